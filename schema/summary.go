package schema

import (
	"encoding/binary"

	"indexer/page"
)

// SummaryRow is the row of a member summary of a giant cluster: the member row at which it
// begins. From is what a member row has after the content key; the first summary of a
// cluster begins at "".
func SummaryRow(k page.ContentKey, from string) string { return string(k[:]) + from }

// SplitMemberRow splits a member row, or the row of a summary, behind the content key.
func SplitMemberRow(row string) (cluster, at string) {
	n := min(len(row), len(page.ContentKey{}))
	return row[:n], row[n:]
}

// StoredSummary adds up the members of a giant cluster from its row to the next summary:
// enough to find the canonical URL without reading other members.
type StoredSummary struct {
	// Unread says that the summary was begun and has not been computed: ignore the rest.
	Unread  bool
	Members int
	Rank    float64 // the sum of their published ranks
	// Lonely is how many members that can be chosen have no inlinks, and so exactly the rank
	// of a page that nothing links to. First and Second are the two highest published ranks
	// among the other members that can be chosen, 0 for none.
	Lonely        int
	First, Second float64
	// Among is a digest of the members that can be chosen: the sum of digests of each.
	Among uint64
}

// Encode encodes the summary for Summary.
func (s StoredSummary) Encode() []byte {
	e := enc(nil).byte(flags(s.Unread)).uint(uint64(s.Members)).uint(uint64(s.Lonely)).float(s.Rank).float(s.First).float(s.Second)
	return binary.BigEndian.AppendUint64(e, s.Among)
}

// DecodeSummary decodes a summary.
func DecodeSummary(b []byte) (StoredSummary, error) {
	d := newDec(b)
	s := StoredSummary{Unread: d.Byte()&1 != 0, Members: d.count(), Lonely: d.count(), Rank: d.float(), First: d.float(), Second: d.float()}
	if sum := d.Take(8); sum != nil {
		s.Among = binary.BigEndian.Uint64(sum)
	}
	return s, d.done("member summary")
}
