package badgerdb

import (
	"bytes"
	"context"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// ctxEvery is how many cells a scan visits, or steps over, between two checks of the context.
const ctxEvery = 256

// scan visits a range; keysOnly leaves the values out.
func (r *reader) scan(ctx context.Context, rg store.Range, keysOnly bool, fn func(store.Cell) error) (next []byte, err error) {
	if _, err := r.db.schema.Group(rg.Group); err != nil {
		return nil, err
	}
	s := newScan(r, &rg, keysOnly)
	if s.nothing() {
		return nil, ctx.Err()
	}
	it, err := r.iterator(s.tables())
	if err != nil {
		return nil, err
	}
	defer it.Close()
	c := cursor{it: it, group: s.g, lo: s.lo, hi: s.hi, newest: rg.Newest, ctx: ctx}
	err = c.visit(s.start, []byte{s.g.id}, func(head []byte, ts uint64, item *badger.Item) error {
		if bytes.Compare(head, s.end) >= 0 {
			return errStop
		}
		if err := s.enterRow(head); err != nil {
			return err
		}
		if s.full() {
			next = s.row
			return errStop
		}
		if !bytes.HasPrefix(head[s.rowEnd:], s.columnPrefix) {
			return nil
		}
		cell, err := s.cell(head, ts, item)
		if err == nil {
			s.passed++
			s.passedRow = s.rowNumber
			err = fn(cell)
		}
		return err
	})
	if err != nil {
		next = s.row
	}
	return next, err
}

// scan is the state of one walk over a range.
type scan struct {
	r            *reader
	g            *group
	keysOnly     bool
	lo, hi       uint64
	start, end   []byte // keys; end is exclusive
	columnPrefix []byte // escaped
	maxCells     int
	borrowed     bool // slices that were handed out may be used again
	empty        bool

	encodedRow []byte // of the row the walk is in
	rowEnd     int
	row        []byte // a fresh slice for each row: it is handed out
	column     []byte // of the last cell, as handed out
	value      []byte // likewise
	rowNumber  int
	passed     int
	passedRow  int // number of the row of the last cell passed on
}

func newScan(r *reader, rg *store.Range, keysOnly bool) *scan {
	g := r.db.group(rg.Group)
	s := &scan{r: r, g: g, keysOnly: keysOnly, maxCells: rg.MaxCells, borrowed: rg.Borrowed, empty: r.empty.has(g.number)}
	s.lo, s.hi = engine.TSRange(rg.MinTS, rg.MaxTS)
	s.start = []byte{g.id}
	if len(rg.Start) > 0 {
		s.start = appendRow(nil, g.id, rg.Start)
	}
	s.end = []byte{g.id + 1} // ids end at 0xfe, so this does not wrap
	if rg.End != nil {
		s.end = appendRow(nil, g.id, rg.End)
	}
	s.columnPrefix = appendEscaped(nil, rg.ColumnPrefix)
	return s
}

func (s *scan) nothing() bool {
	return s.empty || s.lo > s.hi || bytes.Compare(s.start, s.end) >= 0
}

// enterRow notices when a cell is in a different row from the last one.
func (s *scan) enterRow(head []byte) error {
	if s.encodedRow != nil && bytes.HasPrefix(head, s.encodedRow) {
		return nil
	}
	end, err := rowEnd(head)
	if err != nil {
		return err
	}
	s.encodedRow = append(s.encodedRow[:0], head[:end]...)
	s.rowEnd = end
	s.row = unescapeTo(s.room(s.row), head[1:end])
	s.rowNumber++
	return nil
}

// cell makes the cell of an item in the row the walk is in.
func (s *scan) cell(head []byte, ts uint64, item *badger.Item) (c store.Cell, err error) {
	s.column = unescapeTo(s.room(s.column), head[s.rowEnd:])
	c = store.Cell{Group: s.g.Name, Row: s.row, Column: s.column, TS: ts}
	if !s.keysOnly {
		s.value, err = s.r.cellValueTo(s.room(s.value), s.g, item, head)
		c.Value = s.value
	}
	return c, err
}

// room returns the slice to append to for the next value of its kind: the memory
// of the last one if that is borrowed.
func (s *scan) room(last []byte) []byte {
	if s.borrowed {
		return last[:0]
	}
	return nil
}

// full reports whether enough cells were passed on and the walk is in a new row.
func (s *scan) full() bool {
	return s.maxCells > 0 && s.passed >= s.maxCells && s.passedRow != s.rowNumber
}

// tables is a prefix of all keys in the range, by which Badger leaves out tables
// that lie outside it, and stops.
func (s *scan) tables() []byte {
	a, b := s.start, s.end
	if b[0] != s.g.id {
		return a[:1:1]
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n:n]
}
