package inspect

import (
	"errors"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

const cursorURL page.URL = "https://a.example/"

// Random cursors survive text and parseCursor, for their own URL only, and every changed
// character is noticed.
func TestCursor(t *testing.T) {
	r := testenv.Random(t)
	url := func() page.URL { return page.URL("https://b.example/" + strings.Repeat("x", r.IntN(200))) }
	for range 300 {
		var want cursor
		if r.IntN(3) > 0 {
			want.members = place{string(url()), 1, r.IntN(1 << 20)}
		}
		if r.IntN(3) > 0 {
			want.outlinks = place{string(url()), 1 + r.IntN(300), r.IntN(1 << 20)}
		}
		if r.IntN(3) > 0 {
			want.inlinks = place{schema.PairRow(url(), url()), 1 + r.IntN(300), r.IntN(1 << 20)}
		}
		text := want.text(cursorURL)
		if got, err := parseCursor(cursorURL, text); err != nil || got != want {
			t.Fatalf("%+v came back as %+v, %v", want, got, err)
		}
		if _, err := parseCursor("https://a.example/other", text); !errors.Is(err, ErrCursor) || !strings.Contains(err.Error(), "another URL") {
			t.Errorf("of another URL: %v", err)
		}
		at := r.IntN(len(text))
		other := text[:at] + string("ABCabc012-_ ="[r.IntN(13)]) + text[at+1:]
		if got, err := parseCursor(cursorURL, other); other != text && !errors.Is(err, ErrCursor) {
			t.Errorf("%s for %s is %+v, %v", other, text, got, err)
		}
		if _, err := parseCursor(cursorURL, text[:at]); at > 0 && !errors.Is(err, ErrCursor) {
			t.Errorf("the first %d letters of %s: %v", at, text, err)
		}
	}
	if got, err := parseCursor(cursorURL, ""); err != nil || got != (cursor{}) {
		t.Errorf("none is %+v, %v", got, err)
	}
}

// FuzzCursor: every text that parses is the text of the cursor it parses to, perhaps with line
// breaks, as a terminal makes them.
func FuzzCursor(f *testing.F) {
	c := cursor{members: place{"https://b.example/", 1, 1}, inlinks: place{schema.PairRow("https://b.example/", cursorURL), 2, 7}}
	f.Add(c.text(cursorURL))
	f.Add((&cursor{}).text(cursorURL))
	f.Add(strings.Replace(c.text(cursorURL), "I", "\nI", 1))
	f.Add("")
	f.Add("yesterday")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCursor(cursorURL, text)
		if err != nil {
			if !errors.Is(err, ErrCursor) {
				t.Fatal(err)
			}
			return
		}
		if unwrapped := strings.NewReplacer("\r", "", "\n", "").Replace(text); unwrapped != "" && c.text(cursorURL) != unwrapped {
			t.Fatalf("%q is %+v, which is %q", text, c, c.text(cursorURL))
		}
	})
}
