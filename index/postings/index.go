package postings

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
)

// Query runs a query on one snapshot. Its texts are those of [Queries], so that they can be
// prepared once.
type Query func(ctx context.Context, query string, args ...any) (*sql.Rows, error)

// Index is the inverted index in one snapshot. It is not safe for concurrent use.
type Index struct {
	Totals   Totals
	src      source
	segments []*segment // the highest level first
	byID     map[int64]*segment
	numbers  string // of the segments, as JSON
}

// Open reads the segments of a table.
func Open(ctx context.Context, table string, query Query) (*Index, error) {
	x := &Index{src: source{table, query}, byID: make(map[int64]*segment)}
	var structure, totals []byte
	err := x.src.blocks(ctx, totalsRow, StructureRow, func(id int64, b []byte) (bool, error) {
		switch id {
		case totalsRow:
			totals = append(totals, b...)
		case StructureRow:
			structure = append(structure, b...)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if x.segments, err = parseStructure(structure); err != nil {
		return nil, err
	}
	if x.Totals, err = parseTotals(totals); err != nil {
		return nil, err
	}
	numbers := make([]int64, len(x.segments))
	for i, s := range x.segments {
		x.byID[s.id] = s
		numbers[i] = s.id
	}
	b, err := json.Marshal(numbers)
	x.numbers = string(b)
	return x, err
}

// Counts returns the number of rows of each term with this prefix.
func (x *Index) Counts(ctx context.Context, prefix string) (map[string]int, error) {
	counts := make(map[string]int)
	if len(x.segments) == 0 {
		return counts, nil
	}
	chains, err := x.seek(ctx, []byte(mainIndex+prefix), true)
	if err != nil {
		return nil, err
	}
	for _, c := range chains {
		if err := x.follow(ctx, c); err != nil {
			return nil, err
		}
		for _, d := range c.done {
			var l List
			if err := x.addLive(ctx, &l, c.seg, d); err != nil {
				return nil, err
			}
			if l.Len() > 0 { // a live row is in one segment
				counts[d.term[len(mainIndex):]] += l.Len()
			}
		}
	}
	return counts, nil
}

// addLive adds the rows of a doclist that have not been deleted since.
func (x *Index) addLive(ctx context.Context, l *List, s *segment, d *doclist) error {
	var keep func(int64) (bool, error) // nil: all
	if s.graves > 0 {
		keep = func(row int64) (bool, error) {
			dead, err := x.dead(ctx, s, row)
			return !dead, err
		}
	}
	return l.addDoclist(d.data, d.whole, keep)
}

// mainIndex precedes every term.
const mainIndex = "0"

// Token returns the rows that have a token; with prefix, one that begins with it.
func (x *Index) Token(ctx context.Context, token string, prefix bool) (*List, error) {
	list := new(List)
	if len(x.segments) == 0 || token == "" || strings.Contains(token, "\x00") { // strings of FTS5 end at a zero byte
		return list, nil
	}
	key := []byte(mainIndex + token)
	chains, err := x.seek(ctx, key, prefix)
	if err != nil {
		return nil, err
	}
	var room room
	for _, c := range chains {
		if err := x.follow(ctx, c); err != nil {
			return nil, err
		}
		for _, d := range c.done {
			room.add(d.data)
		}
	}
	list.grow(room)
	for _, c := range chains {
		for _, d := range c.done {
			if err := x.addLive(ctx, list, c.seg, d); err != nil {
				return nil, err
			}
		}
	}
	return list, list.order()
}
