package page

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// reading interprets a fetch with an Interpreter, and says whether the body was read.
func reading(t *testing.T, in *Interpreter, f *Fetch) (doc Document, read bool) {
	t.Helper()
	without := *f
	without.Body = nil
	body := append([]byte(nil), f.Body...)
	doc, err := in.Interpret(&without, sha256.Sum256(f.Body), func(use func([]byte)) error {
		read = true
		use(body)
		clear(body) // it is valid no longer
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return doc, read
}

// checkInterpreter compares an Interpreter with Interpret, for a fetch and for the same
// response under another URL, when the body is new and when it is remembered.
func checkInterpreter(t *testing.T, in *Interpreter, f *Fetch) {
	t.Helper()
	elsewhere := *f
	elsewhere.URL = "https://elsewhere.example/x/y/"
	for range 2 {
		for _, f := range []*Fetch{f, &elsewhere} {
			if got, _ := reading(t, in, f); !reflect.DeepEqual(got, Interpret(f)) {
				t.Errorf("%s: an Interpreter says\n%+v\nand Interpret\n%+v", f.URL, got, Interpret(f))
			}
		}
	}
}

func htmlFetch(u, body string) *Fetch {
	return &Fetch{URL: URL(u), Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
}

// TestInterpreterReadsOnce: the body of a page is read once, whatever its URL and the other
// fields of the header are.
func TestInterpreterReadsOnce(t *testing.T) {
	page := `<title>t</title><p>some words<a href=x>y</a>`
	in := NewInterpreter(1 << 20)
	for i, c := range []struct {
		change func(*Fetch)
		read   bool
	}{
		{func(*Fetch) {}, true},
		{func(*Fetch) {}, false},
		{func(f *Fetch) { f.URL = "https://b.example/c/d" }, false},
		{func(f *Fetch) { f.Header.Set("X-Robots-Tag", "nofollow") }, false},
		{func(f *Fetch) { f.Header.Set("Link", "</z>; rel=canonical") }, false},
		{func(f *Fetch) { f.Body = append(f.Body, '.') }, true},
		{func(f *Fetch) { f.Header.Set("Content-Type", "text/html; charset=latin1") }, true},
		{func(f *Fetch) { f.Header.Set("Content-Type", "text/plain") }, true},
		{func(f *Fetch) { f.Header.Set("Content-Type", "") }, true}, // only the body tells what it is
		{func(f *Fetch) { f.Status = 404 }, true},
		{func(f *Fetch) { f.URL = "https://a.example/robots.txt" }, true},
		{func(f *Fetch) { f.Body = nil }, true},
		{func(f *Fetch) { f.Body = nil }, true}, // or it is missing
	} {
		f := htmlFetch("https://a.example/", page)
		c.change(f)
		got, read := reading(t, in, f)
		if want := Interpret(f); read != c.read || !reflect.DeepEqual(got, want) {
			t.Errorf("fetch %d: read: %v, want %v; %+v, want %+v", i, read, c.read, got, want)
		}
	}
}

// TestInterpreterForgets: what was not asked for lately is forgotten, and what would take too
// much room is not remembered.
func TestInterpreterForgets(t *testing.T) {
	in := NewInterpreter(64 << 10)
	page := func(i int) *Fetch { return htmlFetch("https://a.example/", fmt.Sprint("<p>page ", i)) }
	remembered := func(f *Fetch) bool {
		_, read := reading(t, in, f)
		return !read
	}
	for i := range 1000 {
		remembered(page(i))
		if !remembered(page(0)) {
			t.Fatalf("page 0 was forgotten after %d others, although it was asked for", i)
		}
	}
	if !remembered(page(999)) || remembered(page(1)) {
		t.Error("the last page was forgotten, or the first one was not")
	}
	if n := len(in.now) + len(in.before); n*contentBytes > 64<<10 {
		t.Errorf("%d bodies are remembered", n)
	}
	large := htmlFetch("https://a.example/", strings.Repeat("<a href=x>word</a> ", 1000))
	for range 2 {
		if remembered(large) {
			t.Error("a large body was remembered")
		}
	}
}
