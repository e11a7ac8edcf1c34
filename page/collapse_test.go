package page

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"äöü", 3, "äöü"}, {"äöüß", 3, "äöü"}, {"𝒳𝒴", 1, "𝒳"}} {
		if got := cut(c.s, c.n); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

// TestLongAnchors has the longest code points there are, so that no bound in
// bytes bites before the one in code points.
func TestLongAnchors(t *testing.T) {
	body := "<a href=1>" + strings.Repeat("𝒳", 2*MaxAnchorLength) + "</a> <a href=2> x" + strings.Repeat("𝒳", MaxAnchorLength) + "</a>"
	d := Interpret(&Fetch{URL: "https://example.com/", Status: 200, Body: []byte(body),
		Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}}})
	if len(d.Links) != 2 {
		t.Fatalf("%d links", len(d.Links))
	}
	for _, l := range d.Links {
		if n := utf8.RuneCountInString(l.Anchor); n != MaxAnchorLength || !utf8.ValidString(l.Anchor) {
			t.Errorf("%s: an anchor of %d code points, want %d", l.Target, n, MaxAnchorLength)
		}
	}
}
