package schema

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
)

// URLRow returns the row of a URL.
func URLRow(u page.URL) string { return u.Key() }

// ParseURLRow parses a row made by URLRow.
func ParseURLRow(row string) (page.URL, error) {
	if u, ok := cachedURLOf(row); ok {
		return u, nil
	}
	u, err := page.URLFromKey(row)
	if err != nil {
		return "", fmt.Errorf("schema: row %q: %w: %w", row, store.ErrCorrupt, err)
	}
	if URLRow(u) != row {
		return "", fmt.Errorf("schema: row %q is not the row of %s: %w", row, u, store.ErrCorrupt)
	}
	cacheURL(row, u)
	return u, nil
}

// JournalRow returns the row of a part of the journal of ranks.
func JournalRow(part int) string { return fmt.Sprintf("rank-part %06d", part) }

// CountsRow returns the row of a part of the counts of ranges of rows.
func CountsRow(part int) string { return fmt.Sprintf("%s%06d", CountsPrefix, part) }

// CountsPrefix is the prefix of the rows of CountsRow.
const CountsPrefix = "counts-part "

// PairRow returns the row of the edge from source to target, in GroupPointer, GroupLink
// and GroupNeed. Keys of URLs contain no zero byte.
func PairRow(target, source page.URL) string { return target.Key() + "\x00" + source.Key() }

// PairPrefix returns the prefix of the rows of all edges to target.
func PairPrefix(target page.URL) string { return target.Key() + "\x00" }

// ParsePairRow parses a row made by PairRow.
func ParsePairRow(row string) (target, source page.URL, err error) {
	t, s, ok := strings.Cut(row, "\x00")
	if !ok {
		return "", "", fmt.Errorf("schema: row %q is not a pair of URLs: %w", row, store.ErrCorrupt)
	}
	if target, err = ParseURLRow(t); err != nil {
		return "", "", err
	}
	source, err = ParseURLRow(s)
	return target, source, err
}

// PairSource returns the row of the source in a pair row.
func PairSource(row string) string {
	_, source, _ := strings.Cut(row, "\x00")
	return source
}

// ClusterRow returns the row of a cluster.
func ClusterRow(k page.ContentKey) string { return string(k[:]) }

// ParseClusterRow parses a row made by ClusterRow.
func ParseClusterRow(row string) (k page.ContentKey, err error) {
	if len(row) != len(k) {
		return k, fmt.Errorf("schema: cluster row of %d bytes, not %d: %w", len(row), len(k), store.ErrCorrupt)
	}
	copy(k[:], row)
	return k, nil
}

// MemberInfo is what the row of a member says.
type MemberInfo struct {
	URL page.URL
	// Eligible members can be the canonical URL: they are their own terminal and
	// not noindex.
	Eligible bool
}

// MemberRow returns the row of a member. After the content key comes the order of
// preference among members of equal rank (semantics.md section 4), so that, among equal
// ranks, the first row of a cluster is the canonical URL:
//
//	[content key, 32][class, 1][length of URL, 2 bytes big-endian][URL]
//
// class 0: eligible and https; 1: eligible; 2: not eligible.
func MemberRow(k page.ContentKey, m MemberInfo) string {
	b := make([]byte, 0, 35+len(m.URL))
	b = append(b, k[:]...)
	b = append(b, memberClass(m))
	b = binary.BigEndian.AppendUint16(b, uint16(len(m.URL)))
	return string(append(b, m.URL...))
}

func memberClass(m MemberInfo) byte {
	switch {
	case !m.Eligible:
		return 2
	case strings.HasPrefix(string(m.URL), "https:"):
		return 0
	}
	return 1
}

// ParseMemberRow parses a row made by MemberRow.
func ParseMemberRow(row string) (k page.ContentKey, m MemberInfo, err error) {
	if len(row) < 36 {
		return k, m, fmt.Errorf("schema: member row of %d bytes: %w", len(row), store.ErrCorrupt)
	}
	copy(k[:], row)
	m = MemberInfo{URL: page.URL(row[35:]), Eligible: row[32] < 2}
	if MemberRow(k, m) != row {
		return k, m, fmt.Errorf("schema: member row %q contradicts itself: %w", row, store.ErrCorrupt)
	}
	return k, m, nil
}
