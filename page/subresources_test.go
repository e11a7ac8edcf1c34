package page_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

func TestSubresources(t *testing.T) {
	for _, tt := range []struct{ name, html, want string }{
		{"scripts, styles, images", `<link rel=stylesheet href=/a.css><script src=b.js></script><img src=//cdn.example/c.png>`,
			"https://x.example/a.css https://x.example/d/b.js https://cdn.example/c.png"},
		{"once each", `<img src=a.png><img src=a.png><script src=a.png></script>`, "https://x.example/d/a.png"},
		{"base", `<base href=https://y.example/z/><script src=b.js></script>`, "https://y.example/z/b.js"},
		{"two bases", `<base href=""><base href=https://y.example/><script src=b.js></script>`, "https://x.example/d/b.js"},
		{"base of another scheme", `<base href=file:///c/><script src=b.js></script><img src=https://x.example/i.png>`, "https://x.example/i.png"},
		{"preload", `<link rel="modulepreload" href=/m.js><link rel=preload as=font href=/f.woff2>`, "https://x.example/m.js https://x.example/f.woff2"},
		{"not loaded", `<link rel=canonical href=/c><link rel="alternate stylesheet" href=/alt.css><a href=/d>d</a><template><img src=/t.png></template>`, ""},
		{"no address", `<script></script><img src=""><img src="data:image/png;base64,AA"><img src="/d/">`, ""},
		{"without scripts", `<noscript><img src=/pixel.gif></noscript>`, ""},
		{"queries in the character set", "<meta charset=windows-1251><img src='\xe9?q=\xe4\xe0'>", "https://x.example/d/%D0%B9?q=%E4%E0"},
		{"inside others", `<div><p><svg></svg><img src=/deep.png></p></div>`, "https://x.example/deep.png"},
	} {
		f := &page.Fetch{URL: "https://x.example/d/", Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(tt.html)}
		if got := strings.Trim(fmt.Sprint(page.Subresources(f)), "[]"); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestSubresourcesOfXHTML(t *testing.T) {
	f := &page.Fetch{URL: "https://x.example/", Status: 200, Header: http.Header{"Content-Type": {"application/xhtml+xml"}},
		Body: []byte(`<html><head><script src="/a.js"/><link rel="stylesheet" href="/b.css"/></head></html>`)}
	if got, want := fmt.Sprint(page.Subresources(f)), "[https://x.example/a.js https://x.example/b.css]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSubresourcesAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 2 * page.MaxSubresources {
		fmt.Fprintf(&b, "<img src=/%d.png>", i)
	}
	f := &page.Fetch{URL: "https://x.example/", Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(b.String())}
	if n := len(page.Subresources(f)); n != page.MaxSubresources {
		t.Errorf("%d resources", n)
	}
	for _, other := range []page.Fetch{
		{URL: f.URL, Status: 404, Header: f.Header, Body: f.Body},
		{URL: f.URL, Status: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: f.Body},
		{URL: f.URL, Status: 200, Header: f.Header, Body: f.Body, Err: "cut off"},
	} {
		if list := page.Subresources(&other); list != nil {
			t.Errorf("%d %v %q: %d resources", other.Status, other.Header, other.Err, len(list))
		}
	}
}
