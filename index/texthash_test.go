package index

import (
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestAnchorOrder: which of the anchors is the most frequent is not a change of what
// can be searched.
func TestAnchorOrder(t *testing.T) {
	a := &Document{URL: "https://a.example/", Anchors: []Anchor{{Text: "one", Count: 3}, {Text: "two", Count: 2}}}
	b := &Document{URL: "https://a.example/", Anchors: []Anchor{{Text: "two", Count: 4}, {Text: "one", Count: 3}}}
	if hashText(a) != hashText(b) || textOf(a, &page.Outline{}).Analyze() != textOf(b, &page.Outline{}).Analyze() {
		t.Error("the order of anchors changes what is indexed")
	}
	b.Anchors[0].Text = "three"
	if hashText(a) == hashText(b) {
		t.Error("another anchor does not")
	}
}
