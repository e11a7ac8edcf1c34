package repository

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/txn"
)

// onDisk is a table in files on this machine, such as Badger's.
type onDisk interface {
	// DiskBytes is the size of the files.
	DiskBytes() (int64, error)
	// Reclaim removes what the table no longer has from the files.
	Reclaim(ctx context.Context) error
}

// Freed says what a garbage collection has done.
type Freed struct {
	txn.Collected
	// BytesBefore and BytesAfter are the sizes of the store on disk, or 0 if the store is
	// not on a disk of this machine.
	BytesBefore int64 `json:"bytes_before"`
	BytesAfter  int64 `json:"bytes_after"`
	// Pins lists what holds back the safe point.
	Pins []txn.Pin `json:"pins"`
}

// Collect collects the garbage of the whole repository and returns its space to the disk.
// Everything else can run in the meantime; writes pause from time to time. It calls tell
// with its progress.
func (r *Repository) Collect(ctx context.Context, tell func(format string, args ...any)) (*Freed, error) {
	f := new(Freed)
	var err error
	local, _ := r.table.(onDisk)
	if local != nil {
		if f.BytesBefore, err = local.DiskBytes(); err != nil {
			return nil, err
		}
	}
	progress := func(c txn.Collected) { tell("%d cells visited so far, %d records removed", c.Cells, c.Removed()) }
	if f.Collected, err = r.db.Collect(ctx, txn.CollectOptions{Queue: r.pipeline, Progress: progress}); err != nil {
		return nil, err
	}
	if !r.shared() { // every export that is still to come has begun at the safe point or later
		if err := r.files.prune(ctx, f.SafePoint); err != nil {
			return nil, fmt.Errorf("forget which documents were removed from the index: %w", err)
		}
	}
	if local != nil {
		tell("%d records removed; returning their space to the disk", f.Removed())
		if err := local.Reclaim(ctx); err != nil {
			return nil, fmt.Errorf("return space to the disk: %w", err)
		}
		f.BytesAfter, err = local.DiskBytes()
	}
	if err == nil {
		f.Pins, err = r.db.Pins(ctx)
	}
	return f, err
}

// startCollector starts the collection of garbage in the background. It takes a twentieth of one
// processor.
func (r *Repository) startCollector(ctx context.Context) (err error) {
	r.collector, err = r.db.NewCollector(ctx, txn.CollectOptions{
		Queue:  r.pipeline,
		Failed: func(err error) { r.log.Warn("could not collect garbage, will try again", zap.Error(err)) },
	})
	return err
}
