package index

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/page"
)

// textHash covers everything that the full-text entry and the stored text of a document
// depend on. Documents with the same hash have the same columns, under one analyzer
// version, so exporting a document again without such a change only renews the row.
type textHash [16]byte

func hashText(d *Document) textHash {
	h := sha256.New()
	field := func(s string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:]) // hash.Hash never fails
		io.WriteString(h, s)
	}
	field(string(d.URL))
	field(d.Language)
	field(d.Title)
	field(d.Text)
	field(d.Outline)
	for _, a := range sortedAnchors(d) {
		field(a.Text)
		if a.Others > 0 {
			field("others")
		}
	}
	var sum textHash
	copy(sum[:], h.Sum(nil))
	return sum
}

// sortedAnchors returns the anchors in byte order of their texts. The index ignores their
// order. A document has them by frequency, and one more link can change that order.
func sortedAnchors(d *Document) []Anchor {
	list := slices.Clone(d.Anchors)
	slices.SortStableFunc(list, func(a, b Anchor) int { return strings.Compare(a.Text, b.Text) })
	return list
}

// textOf returns the parts of a document that are analysed.
func textOf(d *Document, o *page.Outline) *analysis.Document {
	t := &analysis.Document{URL: d.URL, Language: d.Language, Title: d.Title, Text: d.Text, Main: o.Main}
	for _, a := range sortedAnchors(d) {
		if a.Others > 0 {
			t.Outside = append(t.Outside, a.Text)
		} else {
			t.Anchors = append(t.Anchors, a.Text)
		}
	}
	return t
}
