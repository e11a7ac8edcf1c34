package webgen

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// TestSameSeedSameBytes: a web is the same each time, and another one with another seed.
func TestSameSeedSameBytes(t *testing.T) {
	write := func(seed uint64) []byte {
		t.Helper()
		res, err := New(seed, 300, 0, 50).Write(t.Context(), t.TempDir(), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Files) != 1 || res.Pages != 300 {
			t.Fatalf("%+v", res)
		}
		b, err := os.ReadFile(res.Files[0])
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if !bytes.Equal(write(1), write(1)) {
		t.Error("the same seed gave other bytes")
	}
	if bytes.Equal(write(1), write(2)) {
		t.Error("another seed gave the same bytes")
	}
}

// TestShape: a web has what it promises, URLs are distinct, and redirects and
// canonical links lead to URLs of the web that end at a page.
func TestShape(t *testing.T) {
	const pages = 3000
	w := New(7, pages, 5, 50)
	urls := map[page.URL]int{}
	for i := range pages {
		u, err := page.ParseURL(w.URL(i))
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := urls[u]; ok {
			t.Fatalf("%s is URL %d and %d", u, other, i)
		}
		urls[u] = i
	}
	outcomes, keys, internal, links := map[page.Outcome]int{}, map[page.ContentKey]int{}, 0, 0
	for i := range pages {
		f := w.Fetch(i)
		d := page.Interpret(&f)
		outcomes[d.Outcome]++
		if d.Target != "" {
			if to, ok := urls[d.Target]; !ok || to >= i {
				t.Errorf("%s leads to %s, URL %d", f.URL, d.Target, to)
			}
		}
		if d.Outcome != page.Page {
			continue
		}
		keys[d.Key]++
		for _, l := range d.Links {
			links++
			if _, ok := urls[l.Target]; ok {
				internal++
			}
		}
	}
	if n := outcomes[page.Page]; n < pages*7/10 || n > pages*9/10 {
		t.Errorf("%d of %d responses are pages", n, pages)
	}
	if n := outcomes[page.Redirect]; n < pages/10 || n > pages/5 {
		t.Errorf("%d of %d responses are redirects", n, pages)
	}
	if n := len(keys); n > outcomes[page.Page]*9/10 || n < outcomes[page.Page]*7/10 {
		t.Errorf("%d pages have %d texts", outcomes[page.Page], n)
	}
	if internal != links {
		t.Errorf("%d of %d links lead to the web", internal, links)
	}
}

// TestSizes: every host has pages, and together they have all.
func TestSizes(t *testing.T) {
	for _, c := range []struct{ pages, hosts int }{{1, 0}, {3, 3}, {10, 7}, {1000, 999}, {5000, 0}} {
		w := New(1, c.pages, c.hosts, 10)
		next := 0
		for _, h := range w.hosts {
			if h.first != next || h.size < 1 {
				t.Errorf("%+v: host %+v, want it to begin at %d", c, h, next)
			}
			next += h.size
		}
		if next != c.pages {
			t.Errorf("%+v: the hosts have %d pages", c, next)
		}
	}
}

// TestPseudoWords: different numbers have different words.
func TestPseudoWords(t *testing.T) {
	seen := map[string]int{}
	for n := range 200_000 {
		word := pseudoWord(n)
		if m, ok := seen[word]; ok {
			t.Fatalf("%q is the word of %d and %d", word, m, n)
		}
		seen[word] = n
	}
}

func TestRenameHosts(t *testing.T) {
	c := newCopier(2, []string{"www.site.org", "site.org", "127.0.0.1", "localhost"})
	for _, tc := range []struct{ text, want string }{
		{"https://site.org/a?b#c", "https://site-copy2.org/a?b#c"},
		{"https://www.site.org/", "https://www.site-copy2.org/"},
		{"See WWW.Site.org.", "See www.site-copy2.org."},
		{"//docs.site.org/ mysite.org site.organic", "//docs.site.org/ mysite.org site.organic"},
		{"http://127.0.0.1:80/ http://localhost/", "http://127-0-0-1-copy2.example:80/ http://localhost-copy2.example/"},
		{"", ""},
		{"…", "…"},
	} {
		if got := string(c.renameHosts([]byte(tc.text))); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.text, got, tc.want)
		}
	}
}

// TestRewriteHTML: only words of the text change, and only whole ASCII words.
func TestRewriteHTML(t *testing.T) {
	c := &copier{number: 1}
	all := func(text string) string { // a text with all its words replaced
		b := []byte(text)
		rotate(b, 1)
		return string(b)
	}
	var word string // one that is replaced
	for _, w := range []string{"harbour", "lighthouse", "keeper", "baker", "flour", "window", "island", "museum"} {
		if c.replaces([]byte(w)) {
			word = w
		}
	}
	if word == "" {
		t.Fatal("no word is replaced")
	}
	for _, tc := range []struct{ html, want string }{
		{"<p class=" + word + ">" + word + " a</p>", "<p class=" + word + ">" + all(word) + " a</p>"},
		{"<script>" + word + "</script>" + word, "<script>" + word + "</script>" + all(word)},
		{"<style></style>" + word, "<style></style>" + all(word)},
		{"<!-- " + word + " -->&" + word + "; é" + word + " " + word + "é", "<!-- " + word + " -->&" + word + "; é" + word + " " + word + "é"},
		{"\x1b$B" + word, "\x1b$B" + word},
		{word + ".", all(word) + "."},
		{"<a href=" + word, "<a href=" + word},
	} {
		if got := string(c.rewriteHTML([]byte(tc.html))); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.html, got, tc.want)
		}
	}
	if got := all("Apple"); got == "Apple" || got[0] < 'A' || got[0] > 'Z' {
		t.Errorf("Apple became %q", got)
	}
}

// TestCopies: a copy of a web is a web of the same shape on other hosts.
func TestCopies(t *testing.T) {
	w := New(3, 400, 3, 60)
	res, err := w.Write(t.Context(), t.TempDir(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copies, err := Copies(t.Context(), dir, res.Files, 2, io.Discard)
	if err != nil || copies.Pages != 2*w.Pages || len(copies.Files) != 2 {
		t.Fatalf("%+v, %v", copies, err)
	}
	type shape struct{ pages, texts, links, targets int }
	seen := map[page.URL]bool{}
	texts := map[page.ContentKey]bool{}
	var first shape
	for n, file := range append(res.Files, copies.Files...) {
		s, before := shape{}, len(texts)
		_, err := eachFetch(t.Context(), file, func(f *page.Fetch) error {
			if seen[f.URL] {
				t.Errorf("%s is in two files", f.URL)
			}
			seen[f.URL] = true
			d := page.Interpret(f)
			if d.Outcome == page.Page {
				s.pages++
				texts[d.Key] = true
			}
			s.links += len(d.Links)
			if d.Target != "" {
				s.targets++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.texts = len(texts) - before; n == 0 {
			first = s
		} else if s != first {
			t.Errorf("%s: %+v, want %+v", file, s, first)
		}
	}
	if _, err := Copies(t.Context(), dir, res.Files, 1, io.Discard); err == nil {
		t.Error("files were overwritten")
	}
	if left, err := warc.Open(copies.Files[0], warc.Options{}); err != nil {
		t.Errorf("the file that was there: %v", err)
	} else {
		_ = left.Close() // was read only
	}
}
