package schema

import (
	"encoding/binary"

	"indexer/page"
)

// SummaryRow is the row of a member summary of a giant cluster: where it begins in the order of
// the cluster's member rows. From is what a member row has after the content key; the
// first summary of a cluster begins at "".
func SummaryRow(k page.ContentKey, from string) string { return string(k[:]) + from }

// SplitMemberRow takes a member row, or the row of a summary, apart.
func SplitMemberRow(row string) (cluster, at string) {
	n := min(len(row), len(page.ContentKey{}))
	return row[:n], row[n:]
}

// StoredSummary is what is known of the members of a giant cluster from one row on, up to
// the next summary: enough to find the canonical URL without reading the others.
type StoredSummary struct {
	// An unread summary has been begun and not computed: the rest says nothing.
	Unread  bool
	Members int
	Rank    float64 // the sum of their published ranks
	// Of the members that can be chosen: how many have no inlinks, and so exactly the
	// rank of nowhere; and the two highest published ranks of the others, 0 for none.
	Lonely        int
	First, Second float64
	// Among is a digest of the members that can be chosen: the sum of digests of each.
	Among uint64
}

// Encode for Summary.
func (s StoredSummary) Encode() []byte {
	e := enc(nil).byte(flags(s.Unread)).uint(uint64(s.Members)).uint(uint64(s.Lonely)).float(s.Rank).float(s.First).float(s.Second)
	return binary.BigEndian.AppendUint64(e, s.Among)
}

// DecodeSummary undoes Encode.
func DecodeSummary(b []byte) (StoredSummary, error) {
	d := newDec(b)
	s := StoredSummary{Unread: d.Byte()&1 != 0, Members: d.count(), Lonely: d.count(), Rank: d.float(), First: d.float(), Second: d.float()}
	if sum := d.Take(8); sum != nil {
		s.Among = binary.BigEndian.Uint64(sum)
	}
	return s, d.done("member summary")
}
