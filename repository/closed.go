package repository

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// closedCounts are the counts that Close notes in app:closed if they were known, so that
// stats of the next process needs no scan.
//
// The note holds for exactly one state of the store: the one that the closing process has
// left. Every process that opens the store raises the persisted ceiling of timestamps
// before it does anything else (txn/oracle.go), and the note says at which ceiling it was
// written. If Open finds that ceiling, no process has opened the store in between, of this
// or an older version of the program. As the note is in the last transaction of the process
// that wrote it, nothing has changed since. After a kill, the ceiling is above that of every
// note. A power failure that takes the raised ceiling takes all later transactions, too.
type closedCounts struct {
	Ceiling uint64        `json:"ceiling"`
	Version int           `json:"version"` // counts.Version
	Counts  counts.Counts `json:"counts"`
}

// keepCounts takes over the counts that the last Close has noted, if they still hold. Open
// has committed nothing yet that changes a count.
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
	if c.Ceiling == r.db.Began() && c.Version == counts.Version {
		r.kept.Store(&keptCounts{counts: c.Counts, at: r.changes()})
	}
	return nil
}

// noteClosed notes, when nobody writes any more, how far the index files have come, and the
// counts. It does so only if Open has succeeded: until then the index files may lack
// something that only Open would have noticed.
func (r *Repository) noteClosed(ctx context.Context) error {
	if !r.complete {
		return nil
	}
	known := r.present() // before the next transaction, which changes no count
	if err := r.noteApplied(ctx); err != nil || known == nil {
		return err
	}
	note, err := json.Marshal(closedCounts{Ceiling: r.db.Ceiling(), Version: counts.Version, Counts: known.counts})
	if err != nil {
		return fmt.Errorf("note the counts: %w", err)
	}
	_, err = r.db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set(schema.AppRow, schema.Closed, note)
		return nil
	})
	if errors.Is(err, store.ErrNoSpace) {
		return nil // the next stats scans; a command that only reads must not fail for this
	}
	if err != nil {
		return fmt.Errorf("note the counts: %w", err)
	}
	return nil
}
