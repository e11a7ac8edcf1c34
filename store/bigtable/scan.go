package bigtable

import (
	"context"
	"fmt"
	"time"

	"cloud.google.com/go/bigtable"

	"github.com/webindexer/indexer/store"
)

// Scan implements store.Reader.
func (db *DB) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) (next []byte, err error) {
	if err := db.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer db.gate.Leave()
	if _, err := db.checker.Schema.Group(r.Group); err != nil {
		return nil, err
	}
	db.counters.Scans.Add(1)
	g := db.group(r.Group)
	w := g.want(r.ColumnPrefix, true, r.MinTS, r.MaxTS, r.Newest)
	if w.impossible || r.End != nil && string(r.End) <= string(r.Start) {
		return nil, nil
	}
	s := &scan{db: db, r: r, w: w, fn: fn}
	if g.OwnTable {
		return s.own(ctx, g.shards)
	}
	return s.main(ctx)
}

// scan is a running scan.
type scan struct {
	db     *DB
	r      store.Range
	w      want
	fn     func(store.Cell) error
	passed int // cells given to fn
}

// full reports whether no further row may be given to fn.
func (s *scan) full() bool { return s.r.MaxCells > 0 && s.passed >= s.r.MaxCells }

// give calls fn for the cells of a row.
func (s *scan) give(row []byte, cells versions) error {
	for _, v := range cells {
		s.passed++
		if err := s.fn(store.Cell{Group: s.r.Group, Row: row, Column: []byte(v.column), TS: v.ts, Value: v.value}); err != nil {
			return err
		}
	}
	return nil
}

// main scans the main table in one request. Each row that is delivered has at least one
// cell, so one row more than MaxCells is enough to know where to resume.
func (s *scan) main(ctx context.Context) (next []byte, err error) {
	var failed error
	err = s.db.readRange(ctx, s.db.main, []bigtable.RowRange{keyRange(mainKey(nil), s.r.Start, s.r.End)}, s.w, s.rowLimit(), func(row []byte, cells versions) bool {
		if s.full() {
			next = row
			return false
		}
		if failed = s.give(row, cells); failed != nil {
			next = row
			return false
		}
		return true
	})
	if failed != nil {
		return next, failed
	}
	return next, err
}

func (s *scan) rowLimit() int64 {
	if s.r.MaxCells == 0 {
		return 0
	}
	return int64(s.r.MaxCells) + 1
}

// keyRange is the range of keys with a prefix of one byte and a row from start on and
// before end. Keys longer than any that exists would be refused.
func keyRange(prefix string, start, end []byte) bigtable.RowRange {
	from, to := prefix+string(start), string(store.PrefixEnd([]byte(prefix)))
	if end != nil {
		to = prefix + string(end)
	}
	const most = 4 << 10
	switch {
	case len(from) > most && len(to) > most:
		return bigtable.NewOpenClosedRange(from[:most], to[:most])
	case len(from) > most:
		return bigtable.NewOpenRange(from[:most], to)
	case len(to) > most:
		return bigtable.NewClosedRange(from, to[:most])
	}
	return bigtable.NewRange(from, to)
}

// readRange calls fn for the rows of ranges of keys, in the order of keys, until it returns
// false. A limit of 0 means none.
//
// A scan may take very long without a row, if few rows of a large table have the columns.
// So it ends not after CallTimeout, but after a multiple of it without a row.
func (db *DB) readRange(ctx context.Context, t *bigtable.Table, ranges bigtable.RowRangeList, w want, limit int64, fn func(row []byte, cells versions) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := scanTimeoutFactor * db.callTimeout
	watch := time.AfterFunc(silence, func() { cancel(errTimeout) })
	defer watch.Stop()
	opts := []bigtable.ReadOption{bigtable.RowFilter(w.filter())}
	if limit > 0 {
		opts = append(opts, bigtable.LimitRows(limit))
	}
	db.counters.ScanRequests.Add(1)
	stopped := false
	err := t.ReadRows(ctx, ranges, func(r bigtable.Row) bool {
		watch.Stop() // fn may take its time
		defer watch.Reset(silence)
		cells, _ := w.pick(versionsOf(r, w.family), 0, 0)
		stopped = len(cells) > 0 && !fn(rowOf(r.Key()), cells)
		return !stopped
	}, opts...)
	if err != nil && !stopped {
		return callError(ctx, fmt.Sprintf("scan %s", w.family), err)
	}
	return nil
}

// scanTimeoutFactor is how many times Options.CallTimeout a scan may take for one row.
const scanTimeoutFactor = 20
