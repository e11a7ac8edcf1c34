package index

import (
	"crypto/sha256"
	"encoding/binary"
	"io"
)

// textHash covers everything of a document that the full-text table or the
// stored text is made of. Documents with the same hash have the same columns
// (under one analyzer version), so a re-export that changed nothing of it only
// renews the row.
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
	for i := range d.Anchors {
		field(d.Anchors[i].Text)
	}
	var sum textHash
	copy(sum[:], h.Sum(nil))
	return sum
}
