package page

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// typicalPage is a page of about 20 KB with 100 links.
func typicalPage() *Fetch {
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=en><head><meta charset=utf-8><title>A typical page</title>" +
		"<link rel=canonical href=/docs/typical.html></head><body><nav><ul>")
	for i := range 40 {
		fmt.Fprintf(&b, "<li class=\"menu-item\"><a href=\"/docs/section-%d/index.html\" title=\"Section\">Section %d</a></li>\n", i, i)
	}
	b.WriteString("</ul></nav><main>")
	for i := range 60 {
		fmt.Fprintf(&b, "<p id=\"par%d\">The <b>index</b> is updated as soon as a page has been fetched, so that &quot;fresh&quot; "+
			"means minutes; see <a href=\"../chapter/%d.html#note\">chapter %d</a> for <code>details</code> of the method.</p>\n", i, i, i)
	}
	b.WriteString("</main></body></html>")
	return &Fetch{
		URL: "https://www.example.com/docs/intro/page.html", Status: 200,
		Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(b.String()),
	}
}

func BenchmarkInterpret(b *testing.B) {
	f := typicalPage()
	b.SetBytes(int64(len(f.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if d := Interpret(f); len(d.Links) != 100 {
			b.Fatalf("%d links", len(d.Links))
		}
	}
}

// BenchmarkExamine adds the look at scripts.
func BenchmarkExamine(b *testing.B) {
	f := typicalPage()
	b.SetBytes(int64(len(f.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, found := Examine(f); found.Why != "" {
			b.Fatal(found.Why)
		}
	}
}

// BenchmarkInterpretUndeclared adds the detection of character set and language.
func BenchmarkInterpretUndeclared(b *testing.B) {
	f := typicalPage()
	f.Body = []byte(strings.Replace(strings.Replace(string(f.Body), " lang=en", "", 1), "<meta charset=utf-8>", "", 1))
	b.SetBytes(int64(len(f.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if d := Interpret(f); d.Language != "en" {
			b.Fatalf("language %q", d.Language)
		}
	}
}

func BenchmarkResolve(b *testing.B) {
	for _, ref := range []string{"../chapter/1.html#note", "/docs/a%20b.html?q=1", "https://other.example/x"} {
		b.Run(ref, func(b *testing.B) {
			r := NewResolver("https://www.example.com/docs/intro/page.html")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Resolve(ref); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkKey(b *testing.B) {
	u := MustParseURL("https://www.example.com/docs/intro/page.html?x=1")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := URLFromKey(u.Key()); err != nil {
			b.Fatal(err)
		}
	}
}
