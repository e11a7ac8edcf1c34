package page

import (
	"fmt"
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
