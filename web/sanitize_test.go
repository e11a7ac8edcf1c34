package web

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"golang.org/x/net/html"

	"github.com/webindexer/indexer/page"
)

// TestSanitize runs testdata/sanitize. Its input is a page, its output the copy without the
// common beginning.
func TestSanitize(t *testing.T) {
	datadriven.RunTest(t, "testdata/sanitize", func(t *testing.T, d *datadriven.TestData) string {
		out, ok := strings.CutPrefix(sanitize(strings.ReplaceAll(d.Input, `\0`, "\x00")), copyHead)
		if !ok {
			t.Errorf("a copy does not begin as copies do: %q", out)
		}
		return strings.TrimRight(out, "\n") + "\n"
	})
}

// FuzzSanitize checks that the output, as a browser parses it, has only elements and
// attributes that are in the lists, and that sanitizing it again changes nothing.
func FuzzSanitize(f *testing.F) {
	for _, seed := range []string{
		`<p>a<script>b</script>c`, `<svg><style><img src=x onerror=1>`, `<noscript><p title="</noscript><img src=x onerror=1>">`,
		`<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=1&gt;">`, `<style></style/><script>`,
		`<a href=javascript:1 HREF=x title=y>`, `<img src="data:image/svg+xml,<svg onload=1>">`, `<textarea><script></textarea>`, `<select><style></select><script>1</script>`,
		"<a\x00href=1 on\x00click=2>", `<!--><script>1</script>-->`, `<xmp><p></xmp>`, `<plaintext><p>`, `<title><p></title>`, `<template><p></template>`,
		`<style>a<b{}</style>`, `<p/onclick=1/style=x>`, `<img src=data:image/png;base64,AAAA alt=x>`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		out := sanitize(source)
		doc, err := html.Parse(strings.NewReader(out))
		if err != nil {
			return // too deep
		}
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if n.Namespace != "" {
				t.Fatalf("<%s> of %s in %q", n.Data, n.Namespace, out)
			}
			if !shown[n.DataAtom] && n.Data != "meta" {
				t.Fatalf("<%s> in %q", n.Data, out)
			}
			if n.Data == "meta" && strings.Count(out, "<meta") != 3 {
				t.Fatalf("a <meta> that is not ours in %q", out)
			}
			for _, a := range n.Attr {
				ours := n.Data == "meta" && (a.Key == "charset" || a.Key == "name" || a.Key == "content")
				if !ours && !attributes[a.Key] && !strings.HasPrefix(a.Key, "aria-") && (n.Data != "img" || a.Key != "src" || !dataImage.MatchString(a.Val)) {
					t.Fatalf("<%s %s=%q> in %q", n.Data, a.Key, a.Val, out)
				}
			}
		}
	})
}

func TestClean(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"plain words", 100, "plain words"},
		{"a\u202eb\u2066c\u200fd\ufeffe\u061cf", 100, "abcdef"},
		{"a\x00b\nc\u2028d\x1b[31m", 100, "a b c d [31m"},
		{"\xff\xfe", 100, "\ufffd\ufffd"},
		{"日本語のページ", 3, "日本語…"},
		{"exact", 5, "exact"},
		{"  spaces  ", 100, "spaces"},
		{"", 10, ""},
		{strings.Repeat("x", 10<<20), 4, "xxxx…"},
		{"👩\u200d👩\u200d👧", 100, "👩\u200d👩\u200d👧"}, // a joiner turns nothing
	} {
		if got := clean(tt.in, tt.n); got != tt.want {
			t.Errorf("clean(%.20q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestHref(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.example/": "https://a.example/", "http://a.example/?q=1": "http://a.example/?q=1",
		"javascript:alert(1)": "", "data:text/html,x": "", "//a.example/": "", "": "", "JavaScript:x": "", " https://a.example/": "https://a.example/",
	} {
		if got := href(page.URL(in)); got != want {
			t.Errorf("href(%q) = %q, want %q", in, got, want)
		}
	}
}
