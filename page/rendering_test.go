package page

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestExamine: which pages have to be rendered, and why.
func TestExamine(t *testing.T) {
	words := func(n int) string { return strings.Repeat("words ", n) }
	long := "<script>" + strings.Repeat("x();", 200) + "</script>"
	for _, c := range []struct {
		name, mediaType, body string
		html                  bool
		why                   string // begins so
	}{
		{"text of its own", "text/html", words(300) + "<script src=a></script><div id=root></div>", true, ""},
		{"empty mount", "text/html", "<div id=root> <!-- here --> <noscript>x</noscript></div><script src=a></script>", true, "about 0 words beside an empty element that scripts fill (#root)"},
		{"custom element", "text/html", words(100) + "<app-root></app-root><script src=a></script>", true, "about 99 words beside an empty element that scripts fill (<app-root>)"},
		{"mount with content", "text/html", "<div id=root>" + words(30) + "</div><script src=a></script>", true, ""},
		{"mount in a template", "text/html", words(30) + "<template><div id=root></div></template><script src=a></script>", true, ""},
		{"noscript asks", "text/html", words(30) + "<noscript><p>Enable JavaScript.</p></noscript><script src=a></script>", true, "about 29 words, and a noscript element asks for JavaScript"},
		{"noscript counts visitors", "text/html", words(30) + "<noscript><img src=/count></noscript><script src=a></script>", true, ""},
		{"noscript without a script", "text/html", "<noscript>Enable JavaScript.</noscript>", true, ""},
		{"few words beside a script", "text/html", "Loading<script src=a></script>", true, "about 1 words beside scripts"},
		{"few words beside a long script", "text/html", "Loading" + long, true, "about 1 words beside scripts"},
		{"few words beside a short script", "text/html", "Hello<script>x()</script>", true, ""},
		{"few words beside data", "text/html", "Hello<script type=application/ld+json src=a></script>", true, ""},
		{"module", "text/html", "Hello<script type=module src=a></script>", true, "about 0 words beside scripts"},
		{"few words", "text/html", "Hello", true, ""},
		{"Chinese", "text/html", strings.Repeat("港口", 100) + "<script src=a></script>", true, ""},
		{"plain text", "text/plain", "<div id=root></div><script src=a></script>", false, ""},
		{"redirect", "text/html", "<meta http-equiv=refresh content='0; url=/x'><div id=root></div><script src=a></script>", false, ""},
		{"image", "image/png", "x", false, ""},
	} {
		f := &Fetch{URL: "https://a.example/", Status: 200, Header: http.Header{"Content-Type": {c.mediaType}}, Body: []byte(c.body)}
		doc, found := Examine(f)
		if found.HTML != c.html || !strings.HasPrefix(found.Why, c.why) || found.Why != "" && c.why == "" {
			t.Errorf("%s: %+v, want %t, %q", c.name, found, c.html, c.why)
		}
		if want := Interpret(f); fmt.Sprint(doc) != fmt.Sprint(want) {
			t.Errorf("%s: Examine returns\n%v\nand Interpret\n%v", c.name, doc, want)
		}
	}
}

// TestInterpretForm: what a form says, what the page itself still says, and which content keys
// are equal.
func TestInterpretForm(t *testing.T) {
	long := strings.Repeat("The text that scripts have made. ", 3)
	page := func(head string) *Fetch {
		return &Fetch{
			URL: "https://a.example/p", Status: 200, Header: http.Header{"Content-Type": {"text/html"}},
			Body: []byte("<html lang=en><title>Raw</title>" + head + "<template>not shown</template><p>raw text <a href=/raw>raw</a>"),
		}
	}
	of := func(f *Fetch, form string) Document {
		raw := Interpret(f)
		return InterpretForm(f, &raw, []byte(form))
	}
	doc := of(page(""), "<html lang=de><title>Form</title><link rel=canonical href=/c><meta http-equiv=refresh content='0; url=/away'>"+long+"<a href=/made>made</a><iframe src=/frame>")
	if doc.Outcome != Page || doc.Title != "Form" || doc.Language != "de" || doc.Target != "https://a.example/c" || doc.NoIndex || doc.NoFollow ||
		len(doc.Links) != 1 || doc.Links[0].Target != "https://a.example/made" || len(doc.Frames) != 1 {
		t.Errorf("%+v", doc)
	}
	if doc := of(page("<meta name=robots content=noindex>"), long); !doc.NoIndex {
		t.Error("a script has taken back the noindex of the page")
	}
	if doc := of(page(""), "<meta name=robots content=nofollow>"+long+"<a href=/made>made</a>"); !doc.NoFollow || len(doc.Links) > 0 {
		t.Errorf("a nofollow that a script has written is ignored: %+v", doc)
	}
	withHeader := page("")
	withHeader.Header.Set("Link", "</h>; rel=canonical")
	if doc := of(withHeader, long); doc.Target != "https://a.example/h" {
		t.Errorf("canonical %q, want that of the header", doc.Target)
	}
	if doc := of(page("<meta charset=windows-1251>"), long+"<a href='/?q=да'>made</a>"); len(doc.Links) != 1 || doc.Links[0].Target != "https://a.example/?q=%E4%E0" {
		t.Errorf("links %v, want the query in the character set of the page", doc.Links)
	}
	if a, b := of(page(""), long), of(page("<!-- -->"), long+"<template>x</template>"); a.Key != b.Key {
		t.Error("forms with the same title and text have different keys")
	}
	if a, b := of(page(""), "<p>short a"), of(page(""), "<p>short b"); a.Key == b.Key {
		t.Error("different short forms of the same body have one key")
	}
	if doc := of(page(""), "bad \xff byte "+long); strings.ContainsRune(doc.Text, 0xff) || !strings.Contains(doc.Text, "\uFFFD") {
		t.Errorf("text %q", doc.Text)
	}
}

// TestIsResource: which bodies are kept for rendering.
func TestIsResource(t *testing.T) {
	for _, c := range []struct {
		url       URL
		mediaType string
		size      int
		want      bool
	}{
		{"https://a.example/a", "text/javascript; charset=utf-8", 1, true},
		{"https://a.example/a", "application/javascript", 1, true},
		{"https://a.example/a", "text/css", 0, true},
		{"https://a.example/a", "image/svg+xml", 1, true},
		{"https://a.example/a", "font/woff2", 1, true},
		{"https://a.example/a", "application/vnd.api+json", 1, true},
		{"https://a.example/a.woff", "application/octet-stream", 1, true},
		{"https://a.example/a.tar", "application/octet-stream", 1, false},
		{"https://a.example/a", "application/pdf", 1, false},
		{"https://a.example/a", "video/mp4", 1, false},
		{"https://a.example/a", "text/html", 1, false},
		{"https://a.example/a", "text/plain", 1, false},
		{"https://a.example/a", "", 1, false},
		{"https://a.example/robots.txt", "text/css", 1, false},
		{"https://a.example/a", "text/css", MaxResource + 1, false},
	} {
		f := &Fetch{URL: c.url, Status: 200, Header: http.Header{"Content-Type": {c.mediaType}}, Body: make([]byte, c.size)}
		if got := f.IsResource(); got != c.want {
			t.Errorf("%s, %s, %d bytes: %t", c.url, c.mediaType, c.size, got)
		}
	}
}
