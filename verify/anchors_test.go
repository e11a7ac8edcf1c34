package verify

import (
	"fmt"
	"slices"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/verify/batch"
)

// TestManyAnchors: of more anchors than a document has room for, any may be shown, but as many as there is
// room for, in the right order, and each with its true count.
func TestManyAnchors(t *testing.T) {
	var all []batch.Anchor
	var shown []index.Anchor
	for i := range document.DefaultAnchors + 2 {
		a := batch.Anchor{Text: fmt.Sprintf("%03d", i), Count: 1000 - i}
		all = append(all, a)
		if i != 1 && i != 3 {
			shown = append(shown, index.Anchor(a))
		}
	}
	for _, test := range []struct {
		name string
		do   func([]index.Anchor) []index.Anchor
		want int
	}{
		{"nothing", func(s []index.Anchor) []index.Anchor { return s }, 0},
		{"one less", func(s []index.Anchor) []index.Anchor { return s[1:] }, 1},
		{"another count", func(s []index.Anchor) []index.Anchor { s[5].Count--; return s }, 1},
		{"another order", func(s []index.Anchor) []index.Anchor { s[5], s[6] = s[6], s[5]; return s }, 1},
		{"one twice", func(s []index.Anchor) []index.Anchor { s[5] = s[6]; return s }, 1},
		{"one of nothing", func(s []index.Anchor) []index.Anchor { s[5].Text += "x"; return s }, 1},
	} {
		v := &verifier{rep: newReport()}
		v.compareAnchors("row", test.do(slices.Clone(shown)), slices.Clone(all))
		if v.rep.Total != test.want {
			t.Errorf("%s: %d differences, want %d", test.name, v.rep.Total, test.want)
		}
	}
	v := &verifier{rep: newReport()}
	few := slices.Clone(all[:document.DefaultAnchors])
	v.compareAnchors("row", append(slices.Clone(shown[:len(shown)-1]), index.Anchor{Text: "x"}), few)
	if v.rep.Total != 1 {
		t.Errorf("an anchor of nothing where all have room: %d differences", v.rep.Total)
	}
}
