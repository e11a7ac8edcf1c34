package bigtable

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"cloud.google.com/go/bigtable"

	"github.com/webindexer/indexer/store"
)

// Read implements store.Reader. Groups with OwnTable are in another Bigtable table and are
// read first.
func (db *DB) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if err := db.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer db.gate.Leave()
	if err := db.checker.Schema.Selectors(sel); err != nil {
		return nil, err
	}
	db.counters.Reads.Add(1)
	if len(row) > limits.MaxRowBytes {
		return nil, nil // no such row can have been written
	}
	return db.read(ctx, row, sel)
}

func (db *DB) read(ctx context.Context, row []byte, sel []store.Selector) ([]store.Cell, error) {
	found := make([]versions, len(sel))
	for _, of := range append(ownShards[:], "") { // the main table last
		if !slices.ContainsFunc(sel, func(s store.Selector) bool { return db.group(s.Group).shards == of }) {
			continue
		}
		wants := make([]want, len(sel))
		for i := range sel {
			wants[i] = want{impossible: true}
			if g := db.group(sel[i].Group); g.shards == of {
				wants[i] = g.wantOf(&sel[i])
			}
		}
		part, err := db.readPart(ctx, row, of, wants)
		if err != nil {
			return nil, err
		}
		for i := range part {
			found[i] = append(found[i], part[i]...)
		}
	}
	var cells []store.Cell
	row = bytes.Clone(row)
	for i := range sel {
		for _, v := range found[i] {
			cells = append(cells, store.Cell{Group: sel[i].Group, Row: row, Column: []byte(v.column), TS: v.ts, Value: v.value})
		}
	}
	return cells, nil
}

// readPart reads the cells of a row that have the same key.
func (db *DB) readPart(ctx context.Context, row []byte, of shards, wants []want) ([]versions, error) {
	if of == "" {
		return db.readMain(ctx, mainKey(row), wants)
	}
	return db.readOne(ctx, db.own, of.key(row), wants)
}

// readMain reads a row of the main table, possibly together with other rows.
func (db *DB) readMain(ctx context.Context, key string, wants []want) ([]versions, error) {
	filters := filterSet{}
	if !filters.add(wants) {
		return nil, fmt.Errorf("%w: the selectors of a read take more than %d bytes, or are too many: read in parts", store.ErrTooLarge, maxFilterBytes)
	}
	if len(filters.wants) == 0 {
		return make([]versions, len(wants)), nil
	}
	c := &readCall{ctx: ctx, key: key, wants: wants, shared: &filters, done: make(chan struct{})}
	db.reads.do(c)
	select {
	case <-c.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if c.again {
		db.counters.readAgain.Add(1)
		return db.readOne(ctx, db.main, key, wants)
	}
	return c.found, c.err
}

// readOne reads a row in a request of its own.
func (db *DB) readOne(ctx context.Context, t *bigtable.Table, key string, wants []want) ([]versions, error) {
	found := make([]versions, len(wants))
	var filters []bigtable.Filter
	for i := range wants {
		if !wants[i].impossible {
			filters = append(filters, wants[i].filter())
		}
	}
	if len(filters) == 0 {
		return found, nil
	}
	bounded, cancel := db.bounded(ctx)
	defer cancel()
	db.counters.ReadRequests.Add(1)
	row, err := t.ReadRow(bounded, key, bigtable.RowFilter(anyOf(filters)))
	if err != nil {
		return nil, callError(bounded, fmt.Sprintf("read row %.80q", key[1:]), err)
	}
	for i := range wants {
		found[i], _ = wants[i].pick(versionsOf(row, wants[i].family), 0, 0)
	}
	return found, nil
}
