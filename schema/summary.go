package schema

import (
	"encoding/binary"

	"github.com/webindexer/indexer/page"
)

// SummaryRow returns the row of a member summary of a giant cluster: the member row at
// which it begins. From is the part of a member row after the content key; the first
// summary of a cluster begins at "".
func SummaryRow(k page.ContentKey, from string) string { return string(k[:]) + from }

// SplitMemberRow splits a member row, or the row of a summary, after the content key.
func SplitMemberRow(row string) (cluster, at string) {
	n := min(len(row), len(page.ContentKey{}))
	return row[:n], row[n:]
}

// StoredSummary adds up the members of a giant cluster from its row to the next summary:
// enough to find the canonical URL without reading all members.
type StoredSummary struct {
	// Incomplete says that the summary was begun but not computed: ignore the rest.
	Incomplete bool
	Members    int
	Rank       float64 // the sum of their published ranks
	// Unlinked is the number of eligible members without inlinks, all of which have exactly
	// the same rank. First and Second are the two highest published ranks among the
	// other eligible members, 0 for none.
	Unlinked      int
	First, Second float64
	// Among is a digest of the eligible members: the sum of the digests of each.
	Among uint64
}

// Encode encodes the summary for Summary.
func (s StoredSummary) Encode() []byte {
	e := enc(nil).byte(flags(s.Incomplete)).uint(uint64(s.Members)).uint(uint64(s.Unlinked)).float(s.Rank).float(s.First).float(s.Second)
	return binary.BigEndian.AppendUint64(e, s.Among)
}

// DecodeSummary decodes a summary.
func DecodeSummary(b []byte) (StoredSummary, error) {
	d := newDec(b)
	s := StoredSummary{Incomplete: d.Byte()&1 != 0, Members: d.count(), Unlinked: d.count(), Rank: d.float(), First: d.float(), Second: d.float()}
	if sum := d.Take(8); sum != nil {
		s.Among = binary.BigEndian.Uint64(sum)
	}
	return s, d.done("member summary")
}
