package postings

import (
	"bytes"
	"slices"
)

// Rows of the table fts_data.
const (
	totalsRow    = 1
	StructureRow = 10         // the segments
	pageBits     = 31 + 5 + 1 // page number, height and doclist-index flag, below the segment
	tombstones   = 1 << 16    // added to the segment in the rows of its tombstones
)

// Bounds of FTS5 itself.
const (
	maxSegments = 2000
	maxColumns  = 64 // FTS5 allows more, but [Columns] does not
)

// segment is one sorted list of terms.
type segment struct {
	id          int64
	first, last int64 // leaf pages; first is above 1 if a merge removed the lower ones
	graves      int64 // pages of tombstones
	grave       map[int64][]byte
}

// page returns the row of a leaf page.
func (s *segment) page(n int64) int64 { return s.id<<pageBits + n }

// structureV2 follows the cookie of a structure record with origins and tombstones.
var structureV2 = []byte{0xFF, 0, 0, 1}

// parseStructure lists the segments that hold anything, those of the highest level, which
// are the oldest, first. An empty table has none.
func parseStructure(b []byte) ([]*segment, error) {
	levels, err := parseLevels(b)
	var list []*segment
	for _, l := range slices.Backward(levels) {
		for _, s := range l.segments {
			if s.first > 0 { // 0: a merge removed everything
				list = append(list, s)
			}
		}
	}
	return list, err
}

// level has the segments of about one size.
type level struct {
	merging  int // how many of them, from the first, are being merged into the next level
	segments []*segment
}

// parseLevels lists the levels, the lowest first.
func parseLevels(b []byte) ([]level, error) {
	if len(b) < 8 || !bytes.Equal(b[4:8], structureV2) {
		return nil, corrupt("structure record of another version")
	}
	r := reader{b: b[8:]}
	levels, total := r.varint(), r.varint()
	r.varint() // pages written, for merging
	if levels > maxSegments || total > maxSegments {
		return nil, corrupt("%d levels, %d segments", levels, total)
	}
	list := make([]level, levels)
	for i := range list {
		merging, n := r.varint(), r.varint()
		if n > total || merging > n {
			return nil, corrupt("more segments than %d", total)
		}
		list[i].merging = int(merging)
		for range n {
			s, err := parseSegment(&r)
			if err != nil {
				return nil, err
			}
			list[i].segments = append(list[i].segments, s)
		}
		total -= n
	}
	if r.bad || total != 0 {
		return nil, corrupt("structure record ends too soon")
	}
	return list, nil
}

func parseSegment(r *reader) (*segment, error) {
	s := segment{id: int64(r.varint()), first: int64(r.varint()), last: int64(r.varint())}
	r.varint() // first and last origin
	r.varint()
	s.graves = int64(r.varint())
	r.varint() // entries of tombstones and of all
	r.varint()
	if r.bad || s.id <= 0 || s.id >= tombstones || s.first < 0 || s.last < s.first || s.last >= 1<<31 || s.graves < 0 || s.graves >= 1<<31 {
		return nil, corrupt("segment %+v", s)
	}
	return &s, nil
}

// Merge is a merge that FTS5 may do: the number of segments of a level, and of their pages.
// Pages that are already merged do not count.
type Merge struct{ Segments, Pages int }

// NextMerges returns the merges that FTS5 would do next, according to the structure
// record of row 10 and the rules of fts5IndexMerge: the lowest level with a merge in
// progress, or the level with the most segments, whichever has more. Then FTS5 continues
// with any other level that has as many segments by that time, so NextMerges lists those
// as well. The list is empty if there are no segments.
func NextMerges(structure []byte) ([]Merge, error) {
	levels, err := parseLevels(structure)
	if err != nil {
		return nil, err
	}
	first := -1
	var next Merge
	for i, l := range levels {
		if m := mergeOf(l); m.Segments > next.Segments {
			first, next = i, m
		}
		if l.merging > 0 {
			break
		}
	}
	if first < 0 {
		return nil, nil
	}
	list := []Merge{next}
	for i, l := range levels {
		m := mergeOf(l)
		if i == first+1 && levels[first].merging == 0 { // the next level gets a segment; that of a merge that has begun is already there
			m.Segments, m.Pages = m.Segments+1, m.Pages+next.Pages
		}
		if i != first && (m.Segments >= next.Segments || l.merging > 0) {
			list = append(list, m)
		}
	}
	return list, nil
}

// mergeOf returns the merge of a level: one that has begun, or one of all its segments.
func mergeOf(l level) Merge {
	list := l.segments
	if l.merging > 0 {
		list = list[:l.merging]
	}
	m := Merge{Segments: len(list)}
	for _, s := range list {
		if s.first > 0 {
			m.Pages += int(s.last - s.first + 1)
		}
	}
	return m
}

// Totals are counts that FTS5 keeps about a table.
type Totals struct {
	Rows   int64
	Tokens int64 // in all columns of all rows
}

// parseTotals reads the record of row 1. The record of an empty table is empty.
func parseTotals(b []byte) (t Totals, err error) {
	if len(b) == 0 {
		return t, nil
	}
	r := reader{b: b}
	t.Rows = int64(r.varint())
	for len(r.b) > 0 && !r.bad {
		t.Tokens += int64(r.varint())
	}
	if r.bad || t.Rows < 0 || t.Tokens < 0 {
		return t, corrupt("totals of %d bytes", len(b))
	}
	return t, nil
}
