package repository

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// closedCounts is what Close notes in app:closed: the counts, as far as they are known, so that
// stats in the next process scans only what was written since, and the number under which Close
// notes the cached link graph.
//
// The note holds for exactly one state of the store: the state that the closing process
// left. Every process that opens the store raises the persisted ceiling of timestamps before
// it does anything else (txn/oracle.go), and the note says at which ceiling it was written.
// If Open finds that ceiling, no process, of this or an older version of the program, has
// opened the store in between. Because the note is in the last transaction of the process
// that wrote it, nothing has changed since. After a kill, the ceiling is above that of every
// note. A power failure that loses the raised ceiling also loses all later transactions.
type closedCounts struct {
	Ceiling uint64         `json:"ceiling"`
	Version int            `json:"version"` // counts.Version
	Counts  *counts.Counts `json:"counts,omitempty"`
	// Parts is how many cells app:counts-part there are with the counts of ranges of rows
	// (counts.Cache).
	Parts int `json:"parts,omitempty"`
	// Graph is the number under which Close notes the cached link graph (closedGraph), or 0 if it does
	// not.
	Graph uint64 `json:"graph,omitempty"`
}

// countsPart is the size of such a cell, in bytes.
const countsPart = 256 << 10

// keepCounts adopts the counts and the link graph that the last Close noted, if they still
// hold. Open has not committed anything yet that changes them.
func (r *Repository) keepCounts(ctx context.Context) error {
	tx, err := r.db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	v, err := tx.Get(ctx, schema.AppRow, schema.Closed)
	if err != nil || !v.Exists {
		return err
	}
	var c closedCounts
	if err := json.Unmarshal(v.Data, &c); err != nil {
		return fmt.Errorf("cell %s: %w: %w", schema.Closed.Name, store.ErrCorrupt, err)
	}
	if c.Ceiling != r.db.Began() {
		return nil
	}
	r.keepGraph(c.Graph)
	if c.Version != counts.Version {
		return nil
	}
	if c.Counts != nil {
		r.kept.Store(&keptCounts{counts: *c.Counts, at: r.changes()})
	}
	if c.Parts == 0 {
		return nil
	}
	var stored []byte
	for i := range c.Parts {
		v, err := tx.GetOnce(ctx, schema.CountsRow(i), schema.CountsPart)
		if err != nil {
			return err
		}
		stored = append(stored, v.Data...)
	}
	r.countedParts = c.Parts
	return r.counted.Decode(stored, tx.Start())
}

// noteClosed records, after the last writer has ended, the state of the index files, and the
// counts. It does so only if Open has succeeded: otherwise the index files may lack documents
// without this process knowing. On a table that several processes share, it does nothing.
func (r *Repository) noteClosed(ctx context.Context) error {
	if !r.complete {
		return nil
	}
	known := r.present() // read before the next transaction, which changes no count
	if err := r.noteApplied(ctx); err != nil {
		return err
	}
	note := closedCounts{Ceiling: r.db.Ceiling(), Version: counts.Version, Graph: r.graphNumber()}
	if known != nil {
		note.Counts = &known.counts
	}
	_, err := r.db.Run(ctx, func(tx *txn.Txn) error { return r.writeCounts(ctx, tx, note) })
	if errors.Is(err, store.ErrNoSpace) {
		return nil // then the next stats scans; a command that only reads must not fail because of this
	}
	if err != nil {
		return fmt.Errorf("note the counts: %w", err)
	}
	r.graphNoted = note.Graph
	return nil
}

// writeCounts writes the note, and the counts of ranges of rows if they differ from those that Open
// read.
func (r *Repository) writeCounts(ctx context.Context, tx *txn.Txn, note closedCounts) error {
	note.Parts = r.countedParts
	if r.counted.Changed() {
		note.Parts = 0
		for part := range slices.Chunk(r.counted.Encode(), countsPart) {
			tx.Set(schema.CountsRow(note.Parts), schema.CountsPart, part)
			note.Parts++
		}
	}
	var old []string
	err := tx.ScanCells(ctx, schema.GroupApp, schema.CountsRow(note.Parts), txn.PrefixEnd(schema.CountsPrefix), "", func(row, _, _ []byte) error {
		old = append(old, string(row))
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range old {
		tx.Delete(row, schema.CountsPart)
	}
	if note.Counts == nil && note.Parts == 0 && note.Graph == 0 {
		return nil
	}
	text, err := json.Marshal(note)
	if err != nil {
		return err
	}
	tx.Set(schema.AppRow, schema.Closed, text)
	return nil
}
