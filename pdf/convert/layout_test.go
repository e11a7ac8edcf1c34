package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"golang.org/x/net/html"
)

// TestLayout runs testdata/layout: lines of pages become HTML.
//
//	layout [title=TEXT] [bookmark=(PAGE,DEPTH,TITLE)]…
//	LEFT RIGHT BOTTOM HEIGHT TEXT
//	page                             the next page begins
//
// In a line, [text](target) is a link, and a hyphen that ends a line divides a word.
func TestLayout(t *testing.T) {
	datadriven.RunTest(t, "testdata/layout", func(t *testing.T, d *datadriven.TestData) string {
		doc := &document{bookmarks: make(map[int][]bookmark)}
		for _, arg := range d.CmdArgs {
			switch arg.Key {
			case "title":
				doc.title = strings.ReplaceAll(arg.Vals[0], "_", " ")
			case "bookmark":
				var page, depth int
				if _, err := fmt.Sscan(arg.Vals[0], &page); err != nil {
					t.Fatal(err)
				}
				if _, err := fmt.Sscan(arg.Vals[1], &depth); err != nil {
					t.Fatal(err)
				}
				doc.bookmarks[page] = append(doc.bookmarks[page], bookmark{letters(arg.Vals[2]), depth})
			}
		}
		doc.pages = [][]line{nil}
		for _, s := range strings.Split(d.Input, "\n") {
			if s == "page" {
				doc.pages = append(doc.pages, nil)
				continue
			}
			last := len(doc.pages) - 1
			doc.pages[last] = append(doc.pages[last], parseLine(t, s))
		}
		_, body, _ := strings.Cut(string(doc.html(nil)), "<title>")
		return "<title>" + body
	})
}

func parseLine(t *testing.T, s string) line {
	var l line
	var text string
	if _, err := fmt.Sscan(s, &l.left, &l.right, &l.bottom, &l.height); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	text = strings.SplitN(s, " ", 5)[4]
	l.top = l.bottom + l.height
	text, l.hyphen = strings.CutSuffix(text, "-")
	for {
		before, after, found := strings.Cut(text, "[")
		l.text += before
		if !found {
			return l
		}
		anchor, after, _ := strings.Cut(after, "](")
		target, after, _ := strings.Cut(after, ")")
		l.links = append(l.links, link{len(l.text), len(l.text) + len(anchor), target})
		l.text += anchor
		text = after
	}
}

// TestAddLink: documents list the links of a line in any order; of two that overlap, the first counts.
func TestAddLink(t *testing.T) {
	var got []link
	for _, l := range []link{{20, 30, "c"}, {5, 10, "a"}, {10, 20, "b"}, {29, 40, "over c"}, {0, 6, "over a"}, {12, 13, "in b"}, {0, 50, "over all"}, {30, 31, "d"}} {
		got = addLink(got, l)
	}
	if want := []link{{5, 10, "a"}, {10, 20, "b"}, {20, 30, "c"}, {30, 31, "d"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// FuzzLayout: whatever lines there are, each text is in the HTML, which is well formed.
func FuzzLayout(f *testing.F) {
	f.Add("A harbour\nis dredged\fPier\nquay", "Harbour", []byte{10, 20, 30, 200, 7})
	f.Add("1\n2\f1\n2\f1\n2\f1\n2", "", []byte{0})
	f.Fuzz(func(t *testing.T, text, title string, places []byte) {
		if !utf8.ValidString(text) || !utf8.ValidString(title) {
			return
		}
		next := func() float64 {
			if len(places) == 0 {
				return 1
			}
			n := places[0]
			places = append(places[1:], n)
			return float64(n)
		}
		doc := &document{title: title, language: title, bookmarks: map[int][]bookmark{0: {{letters(title), 0}}}}
		for _, page := range strings.Split(text, "\f") {
			var lines []line
			for _, s := range strings.Split(page, "\n") {
				if s = strings.TrimSpace(s); s == "" {
					continue // as lineReader
				}
				l := line{box: box{next(), next(), next(), next()}, text: s, height: next(), hyphen: next() > 200}
				if next() > 100 {
					l.links = []link{{0, len(s), "https://a.example/?" + title}}
				}
				lines = append(lines, l)
			}
			doc.pages = append(doc.pages, lines)
		}
		out := doc.html([]byte(text))
		if !utf8.Valid(out) {
			t.Errorf("%q is no UTF-8", out)
		}
		z := html.NewTokenizer(bytes.NewReader(out))
		open := 0
		for tt := z.Next(); tt != html.ErrorToken; tt = z.Next() {
			switch name, _ := z.TagName(); {
			case tt == html.StartTagToken && (string(name) == "p" || string(name) == "a" || len(name) == 2 && name[0] == 'h'):
				open++
			case tt == html.EndTagToken && (string(name) == "p" || string(name) == "a" || len(name) == 2 && name[0] == 'h'):
				open--
			}
		}
		if open != 0 {
			t.Errorf("%d elements stay open in %q", open, out)
		}
	})
}

// FuzzMetadataTitle: whatever a file holds, a title is text.
func FuzzMetadataTitle(f *testing.F) {
	f.Add([]byte(`<dc:title><rdf:Alt><rdf:li>Ports</rdf:li><rdf:li>Häfen</rdf:li></rdf:Alt></dc:title>`))
	f.Add([]byte(`<dc:title>&#x0;</dc:title><dc:title`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := &document{title: metadataTitle(b)}
		if title := d.titleOf(); !utf8.ValidString(title) || len(title) > maxTitle {
			t.Errorf("%q", title)
		}
	})
}
