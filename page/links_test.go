package page

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestLinksAreBounded: the first links count, until their targets have too many bytes. Those that do
// not count in any case take no room.
func TestLinksAreBounded(t *testing.T) {
	raw := []rawLink{{ref: "1"}, {ref: "mailto:a@b.example"}, {ref: "https://self.example/"}, {ref: "2"}, {ref: "3"}}
	one := len("https://base.example/1")
	for most, want := range map[int]string{one - 1: "[]", one: "[1]", 3*one - 1: "[1 2]", 3 * one: "[1 2 3]"} {
		var got []string
		for _, l := range countingLinks("https://self.example/", NewResolver("https://base.example/"), append([]rawLink(nil), raw...), most) {
			got = append(got, l.Target.Path()[1:])
		}
		if fmt.Sprint(got) != want {
			t.Errorf("at most %d bytes: %v, want %s", most, got, want)
		}
	}
}

// TestRawLinksAreBounded: links are not even collected beyond the bound, and none follows a link that
// was too large.
func TestRawLinksAreBounded(t *testing.T) {
	x := extractor{size: maxLinkBytes - 4}
	x.addLink("ab", "cd")
	x.addLink("toolarge", "")
	x.addLink("", "")
	if fmt.Sprint(x.links) != "[{ab cd}]" {
		t.Errorf("links %v, want the first alone", x.links)
	}
}

// TestDeepBase: the parser takes a tenth of a second for a URL with thousands of path segments. A page may
// have some of them, but not thousands.
func TestDeepBase(t *testing.T) {
	const links = 150
	var refs strings.Builder
	for i := range links {
		fmt.Fprintf(&refs, "<a href='?ä%d'>", i)
	}
	deep := strings.Repeat("a/", 4000)
	for _, c := range []struct {
		path        string
		least, most int
	}{
		{deep, 16, 64},
		{deep[:100], links, links},
		{strings.Repeat("a", 8000), links, links},
	} {
		d := Interpret(htmlFetch("https://a.example/", "<base href='https://a.example/"+c.path+"'>"+refs.String()))
		if n := len(d.Links); n < c.least || n > c.most {
			t.Errorf("%s: %d links, not %d to %d", abbreviate(c.path), n, c.least, c.most)
		}
	}
}

// TestTooLongReferences: a page may have some references that make URLs which are too long, but not a million.
func TestTooLongReferences(t *testing.T) {
	r := NewResolver(URL("https://a.example/" + strings.Repeat("a", 8000) + "/"))
	*r.copied = mostCopied - MaxURLLength
	long := strings.Repeat("ä", 100)
	for i, want := range []error{ErrURLTooLong, ErrURLTooLong, errMuchCopied} {
		if _, err := r.Resolve(long); !errors.Is(err, want) {
			t.Errorf("reference %d: %v, want %v", i, err, want)
		}
	}
}
