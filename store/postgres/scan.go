package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// The sizes of a page of a scan: at most this many cells, and about this many bytes of
// values. The first page is small, because many scans end early. A row that does not fit gets
// a larger page of its own, because one statement must read a row at one instant.
const (
	firstPage = 128
	largePage = 2048
	pageBytes = 4 << 20
)

// Scan implements store.Reader.
func (t *table) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) (next []byte, err error) {
	if err := t.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer t.gate.Leave()
	n, err := t.checker.Schema.Group(r.Group)
	if err != nil {
		return nil, err
	}
	t.counters.Scans.Add(1)
	s := &scanning{table: t, group: &t.groups[n], r: r, fn: fn, start: r.Start, cells: firstPage, bytes: pageBytes}
	for {
		p, err := s.page(ctx)
		if err != nil {
			return s.start, err
		}
		if next, stop, err := s.pass(ctx, p); stop {
			return next, err
		}
	}
}

// scanning is a running Scan.
type scanning struct {
	table  *table
	group  *group
	r      store.Range
	fn     func(store.Cell) error
	start  []byte // of the next page
	cells  int    // bounds of the next page
	bytes  int64
	passed int // cells handed to fn
}

// page is a part of a scan: whole rows, all rows with the same head together.
type page struct {
	cells []store.Cell
	next  []byte // where the next page starts; nil: there is none
}

// page reads the next page. It has at least one row, unless it is the last one.
func (s *scanning) page(ctx context.Context) (page, error) {
	for {
		s.table.counters.ScanRequests.Add(1)
		cells, cut, err := s.query(ctx)
		if err != nil || !cut {
			return page{cells: cells}, err
		}
		// The rows with the last head may have more cells, or more rows.
		last := head(cells[len(cells)-1].Row)
		whole := slices.IndexFunc(cells, func(c store.Cell) bool { return bytes.Equal(head(c.Row), last) })
		if whole > 0 {
			s.cells, s.bytes = min(2*max(s.cells, firstPage), largePage), pageBytes
			return page{cells: cells[:whole], next: last}, nil
		}
		s.cells, s.bytes = 4*s.cells, 4*s.bytes
	}
}

// query reads one page with one statement. cut says that it ends before the range does.
func (s *scanning) query(ctx context.Context) (cells []store.Cell, cut bool, err error) {
	q := s.pageQuery()
	err = s.table.retry(ctx, reading, s.table.scans, func(ctx context.Context, conn *pgx.Conn) error {
		cells, cut = nil, false
		rows, err := conn.Query(ctx, q.sql.String(), q.args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for n := 1; rows.Next(); n++ {
			v := rows.RawValues() // head, rest, col, inverse_ts, fits, value
			if cut = cut || v[4][0] == 0 || n == s.cells; v[4][0] != 0 {
				cells = append(cells, newCell(s.r.Group, v[0], v[1], v[2], v[3], v[5]))
			}
		}
		return rows.Err()
	})
	return cells, cut, err
}

// pageQuery reads, in order, as many cells as a page may have. The values of cells beyond
// the bound of bytes stay on the server.
func (s *scanning) pageQuery() *query {
	q := &query{}
	order := " ORDER BY head, tail, col"
	if !s.group.Latest {
		order += ", inverse_ts"
	}
	lo, hi := engine.TSRange(s.r.MinTS, s.r.MaxTS)
	cells := "SELECT head, tail, rest, col, inverse_ts, value"
	newest := s.r.Newest > 0 && !s.group.Latest
	if newest {
		cells += ", row_number() OVER (PARTITION BY head, tail, col ORDER BY inverse_ts) AS version"
	}
	cells += " FROM " + s.group.Table + " WHERE head >= " + q.arg(head(s.start)) + s.end(q) + columnRange(q, s.r.ColumnPrefix) +
		" AND inverse_ts BETWEEN " + q.arg(inverse(hi)) + " AND " + q.arg(inverse(lo))
	if newest {
		cells = "SELECT * FROM (" + cells + ") AS versions WHERE version <= " + q.arg(s.r.Newest)
	}
	fmt.Fprintf(&q.sql, `SELECT head, rest, col, inverse_ts, fits, CASE WHEN fits THEN value END FROM (
		SELECT *, sum(octet_length(value)) OVER (%s ROWS UNBOUNDED PRECEDING) - octet_length(value) < %s AS fits FROM (%s%s LIMIT %s) AS cells
	) AS page%s`, order[1:], q.arg(s.bytes), cells, order, q.arg(s.cells), order)
	return q
}

// end is the condition that rows are before the end of the range, or share the
// whole head with it.
func (s *scanning) end(q *query) string {
	switch {
	case s.r.End == nil:
		return ""
	case len(s.r.End) > headBytes:
		return " AND head <= " + q.arg(head(s.r.End))
	}
	return " AND head < " + q.arg(s.r.End)
}

// pass hands a page to the callback, row by row, and says whether the scan stops.
func (s *scanning) pass(ctx context.Context, p page) (next []byte, stop bool, err error) {
	sortLongRows(p.cells)
	var row []byte
	for i := range p.cells {
		c := &p.cells[i]
		if bytes.Compare(c.Row, s.r.Start) < 0 || s.r.End != nil && bytes.Compare(c.Row, s.r.End) >= 0 {
			continue // it shares its head with the bound
		}
		if row == nil || !bytes.Equal(c.Row, row) {
			row = bytes.Clone(c.Row)
			if err := ctx.Err(); err != nil {
				return row, true, err
			}
			if s.r.MaxCells > 0 && s.passed >= s.r.MaxCells {
				return row, true, nil
			}
		}
		s.passed++
		if err := s.fn(*c); err != nil {
			return row, true, err
		}
	}
	if p.next == nil || s.r.MaxCells > 0 && s.passed >= s.r.MaxCells {
		return p.next, true, nil
	}
	s.start = p.next
	return nil, false, nil
}

// sortLongRows puts rows with equal heads of full length, which come in the order of their
// hashes, into the order of their keys.
func sortLongRows(cells []store.Cell) {
	for i := 0; i < len(cells); {
		j := i + 1
		if len(cells[i].Row) >= headBytes {
			h := head(cells[i].Row)
			for j < len(cells) && bytes.Equal(head(cells[j].Row), h) {
				j++
			}
			slices.SortStableFunc(cells[i:j], func(a, b store.Cell) int { return bytes.Compare(a.Row, b.Row) })
		}
		i = j
	}
}
