package postings

import "bytes"

// Rows of the table fts_data.
const (
	totalsRow    = 1
	structureRow = 10
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
	graves      int   // pages of tombstones
	grave       map[int][]byte
}

// page is the row of a leaf page.
func (s *segment) page(n int64) int64 { return s.id<<pageBits + n }

// structureV2 follows the cookie of a structure record with origins and tombstones.
var structureV2 = []byte{0xFF, 0, 0, 1}

// parseStructure lists the segments that hold anything, those of the highest level, which
// are the oldest, first. An empty table has none.
func parseStructure(b []byte) ([]*segment, error) {
	if len(b) < 8 || !bytes.Equal(b[4:8], structureV2) {
		return nil, corrupt("structure record of another version")
	}
	r := reader{b: b[8:]}
	levels, total := r.varint(), r.varint()
	r.varint() // pages written, for merging
	if levels > maxSegments || total > maxSegments {
		return nil, corrupt("%d levels, %d segments", levels, total)
	}
	var list []*segment
	for range levels {
		var level []*segment
		r.varint() // being merged
		n := r.varint()
		if n > total {
			return nil, corrupt("more segments than %d", total)
		}
		for range n {
			s := segment{id: int64(r.varint()), first: int64(r.varint()), last: int64(r.varint())}
			r.varint() // first and last origin
			r.varint()
			s.graves = int(r.varint())
			r.varint() // entries of tombstones and of all
			r.varint()
			if r.bad || s.id <= 0 || s.id >= tombstones || s.first < 0 || s.last < s.first || s.last >= 1<<31 || s.graves < 0 || s.graves >= 1<<31 {
				return nil, corrupt("segment %+v", s)
			}
			if s.first > 0 { // 0: a merge removed everything
				level = append(level, &s)
			}
		}
		list = append(level, list...)
		total -= n
	}
	if r.bad || total != 0 {
		return nil, corrupt("structure record ends too soon")
	}
	return list, nil
}

// Totals are counts that FTS5 keeps of a table.
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
