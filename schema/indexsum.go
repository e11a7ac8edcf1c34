package schema

import (
	"encoding/binary"
	"fmt"
)

// StoredIndexSum is the number of documents in index:doc and the sum of their digests
// (index.Sum), or what one transaction adds to both.
type StoredIndexSum struct {
	Documents int // negative if a transaction has removed more than it has added
	Sum       uint64
}

// Encode encodes the sum for IndexSum and IndexSumPart.
func (s StoredIndexSum) Encode() []byte {
	return enc(binary.AppendVarint(nil, int64(s.Documents))).uint(s.Sum)
}

// DecodeIndexSum decodes a sum.
func DecodeIndexSum(b []byte) (StoredIndexSum, error) {
	d := newDec(b)
	s := StoredIndexSum{Documents: int(d.Int()), Sum: d.Uint()}
	return s, d.done("sum of index documents")
}

// IndexSumRow returns the row of what the transaction with this start timestamp has added.
func IndexSumRow(start uint64) string { return fmt.Sprintf("%s%020d", IndexSumPrefix, start) }

// IndexSumPrefix begins the rows made by IndexSumRow.
const IndexSumPrefix = "index-sum "
