package page_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

func TestNamedIcons(t *testing.T) {
	for _, tt := range []struct{ name, html, want string }{
		{"the usual one", `<link rel=icon href=/lamp.png>`, "https://www.x.example/lamp.png"},
		{"the old way", `<LINK REL="Shortcut Icon" HREF=" lamp.ico ">`, "https://www.x.example/d/lamp.ico"},
		{"the nearest size first", `<link rel=icon sizes=16x16 href=16><link rel=icon sizes=192x192 href=192><link rel=icon sizes="512x512 48x48" href=48>`,
			"https://www.x.example/d/48 https://www.x.example/d/192"},
		{"too small is better than none", `<link rel=icon sizes=16x16 href=16>`, "https://www.x.example/d/16"},
		{"telephones last", `<link rel=apple-touch-icon href=touch><link rel=icon sizes=512x512 href=large>`, "https://www.x.example/d/large https://www.x.example/d/touch"},
		{"dark surroundings last", `<link rel=icon media="(prefers-color-scheme: DARK)" href=dark><link rel=icon media="(prefers-color-scheme: light)" href=light>`,
			"https://www.x.example/d/light https://www.x.example/d/dark"},
		{"once each", `<link rel=icon href=a><link rel=icon href=./a>`, "https://www.x.example/d/a"},
		{"two at most", `<link rel=icon href=a><link rel=icon href=b><link rel=icon href=c>`, "https://www.x.example/d/a https://www.x.example/d/b"},
		{"base", `<base href=https://static.x.example/y/><link rel=icon href=a.png>`, "https://static.x.example/y/a.png"},
		{"the same domain", `<link rel=icon href=//x.example/a><link rel=icon href=http://cdn.x.example/b>`, "https://x.example/a http://cdn.x.example/b"},
		{"a query in the character set", "<meta charset=windows-1251><link rel=icon href='a?q=\xe4\xe0'>", "https://www.x.example/d/a?q=%E4%E0"},
		{"a long page in UTF-8", "<link rel=icon href=/ü>" + strings.Repeat("ü", 100_000), "https://www.x.example/%C3%BC"},
		{"a long page in UTF-8, cut elsewhere", "<link rel=icon href=/ü> " + strings.Repeat("ü", 100_000), "https://www.x.example/%C3%BC"},
		{"other sites", `<link rel=icon href=https://y.example/a><link rel=icon href=https://x.example.org/b><link rel=icon href=//127.0.0.1/c>`, ""},
		{"drawings and photographs", `<link rel=icon href=a.SVG><link rel=icon type=image/svg+xml href=b><link rel=icon type=image/jpeg href=c><link rel=icon href=d.jpg>`, ""},
		{"a photograph called an icon", `<link rel=icon href=favicon.jpg>`, "https://www.x.example/d/favicon.jpg"},
		{"with its type", `<link rel=icon type="IMAGE/PNG" href=a><link rel=icon type=image/x-icon href=b>`, "https://www.x.example/d/a https://www.x.example/d/b"},
		{"other links", `<link rel=stylesheet href=a><link rel=mask-icon href=b><link rel=alternate href=c><a rel=icon href=d>e</a>`, ""},
		{"no address", `<link rel=icon><link rel=icon href=" "><link rel=icon href=data:image/png;base64,AA><link rel=icon href=/d/>`, ""},
		{"comments, scripts and templates", `<!--<link rel=icon href=a>--><script>"<link rel=icon href=b>"</script><template><template></template><link rel=icon href=c></template>`, ""},
		{"the body", `<title>x</title></head><link rel=icon href=a>`, ""},
		{"after the head began", `<html><head><title>x</title><link rel=icon href=a/><body><link rel=icon href=b>`, "https://www.x.example/d/a/"},
	} {
		f := front(tt.html)
		if got := strings.Trim(fmt.Sprint(page.NamedIcons(f)), "[]"); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func front(html string) *page.Fetch {
	return &page.Fetch{URL: "https://www.x.example/d/", Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(html)}
}

// TestNamedIconsOfOthers: only HTML pages name icons, and addresses have no domain.
func TestNamedIconsOfOthers(t *testing.T) {
	const html = "<link rel=icon href=/a>"
	for name, change := range map[string]func(*page.Fetch){
		"text":    func(f *page.Fetch) { f.Header.Set("Content-Type", "text/plain") },
		"error":   func(f *page.Fetch) { f.Status = 404 },
		"failed":  func(f *page.Fetch) { f.Err = "reset" },
		"revisit": func(f *page.Fetch) { f.Revisit = true },
		"address": func(f *page.Fetch) { f.URL, f.Body = "http://10.0.0.1/", []byte("<link rel=icon href=//99.0.0.1/a>") },
	} {
		f := front(html)
		change(f)
		if got := page.NamedIcons(f); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	f := front("<link rel=icon href=//[::1]:8080/a>")
	f.URL = "http://[::1]/"
	if got := page.NamedIcons(f); !slices.Equal(got, []page.URL{"http://[::1]:8080/a"}) {
		t.Errorf("the same address names %q", got)
	}
	late := front(strings.Repeat("<meta name=x>", 20_000) + html)
	if got := page.NamedIcons(late); got != nil {
		t.Errorf("after 260 kB: %q", got)
	}
}
