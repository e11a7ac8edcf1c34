package repository

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// Quiet is a quiescent moment: everything loaded before it is in the index, and nothing
// loaded after it is visible. It stays readable while the observers continue.
type Quiet struct {
	DB    *txn.DB   // of the repository
	Tx    *txn.Txn  // reads the repository
	Index IndexView // reads the index; nil if it is files on another machine
	// Counts are the counts that Stats answers with, if it needs no scan.
	Counts *counts.Counts
}

// Quiet makes a quiescent moment: it blocks loads, waits until all work is done, takes
// a snapshot of the store and one of the index files, and admits loads again. The caller
// closes it.
func (r *Repository) Quiet(ctx context.Context) (*Quiet, error) {
	if err := r.take(ctx, allTurns); err != nil {
		return nil, err
	}
	defer r.gate.Release(allTurns)
	for attempt := 1; ; attempt++ {
		q, err := r.quiet(ctx)
		if !errors.Is(err, errDisturbed) || attempt == quietAttempts {
			return q, err
		}
	}
}

// quietAttempts is how often Quiet tries. On a shared table, any timestamp that a process takes
// between the two snapshots disturbs an attempt, even that of a process that only reads.
const quietAttempts = 10

// quiet makes a quiescent moment while loads are blocked.
func (r *Repository) quiet(ctx context.Context) (_ *Quiet, err error) {
	q := &Quiet{DB: r.db}
	defer func() {
		if err != nil {
			err = errors.Join(err, q.Close())
		}
	}()
	release := r.db.Hold() // keeps the timestamp readable until At has pinned it
	defer release()
	at, err := r.pipeline.Quiesce(ctx)
	if err != nil {
		return nil, fmt.Errorf("wait until all work is done: %w", err)
	}
	kept := r.present()
	if q.Tx, err = snapshot.At(ctx, r.db, at); err != nil {
		return nil, err
	}
	if kept != nil && kept == r.present() { // nothing was committed around the snapshot
		q.Counts = &kept.counts
	}
	here, err := r.hasIndex(ctx)
	if err != nil || !here {
		return q, err
	}
	// A rebuild that ends now installs files with the same content.
	if q.Index, err = r.viewIndex(ctx); err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	if !r.shared() {
		return q, nil
	}
	// Nothing here prevents other processes from loading.
	if now, err := r.db.Now(ctx); err != nil || now != at {
		return q, cmp.Or(err, errDisturbed)
	}
	return q, nil
}

// errDisturbed means that something may have been loaded between the two snapshots of a Quiet.
var errDisturbed = errors.New("pages are being loaded; try again when loading has ended")

// Close releases the snapshots.
func (q *Quiet) Close() error {
	var errs []error
	if q.Index != nil {
		errs = append(errs, q.Index.Close())
	}
	if q.Tx != nil {
		q.Tx.Rollback()
	}
	return errors.Join(errs...)
}

// viewIndex opens the index as it is now. Close the view.
func (r *Repository) viewIndex(ctx context.Context) (IndexView, error) {
	if r.other != nil {
		return r.other.Snapshot(ctx)
	}
	if r.shards != nil {
		return r.viewShards(ctx)
	}
	return openView(ctx, IndexDir(r.dir))
}

// openView opens the index files in a directory as they are now.
func openView(ctx context.Context, dir string) (IndexView, error) {
	reader, err := index.OpenReader(dir)
	if err != nil {
		return nil, err
	}
	view, err := reader.Snapshot(ctx)
	if err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	return fileView{view, reader}, nil
}

// fileView is a view with its reader.
type fileView struct {
	*index.View
	reader *index.Reader
}

// Close closes both.
func (v fileView) Close() error { return errors.Join(v.View.Close(), v.reader.Close()) }

// KeepsThumbnails reports whether an index has the thumbnails of its documents. Index files have
// them. Searches of another index get them from the store.
func KeepsThumbnails(view IndexView) bool {
	switch v := view.(type) {
	case *shardsView:
		return true
	case shardView:
		return KeepsThumbnails(v.IndexView)
	case fileView:
		return true
	}
	_, files := view.(*index.View)
	return files
}
