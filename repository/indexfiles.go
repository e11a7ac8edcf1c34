package repository

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"indexer/index"
	"indexer/notify"
	"indexer/store"
)

// indexFiles are the index files as observers and loaders write them, and, while a rebuild
// is under way, the new ones as well.
//
// It tells errors of the files from those of a document. A document that cannot
// be written goes to the dead letters after some attempts, and the others go on.
// If the disk is full or the files are damaged, all documents would go there one
// by one, and none would come back when there is room again. So such an error
// stops the pipeline; what is left to do stays in the table for the next Open.
type indexFiles struct {
	dir  string
	opts index.WriterOptions

	// mu is held shared by everybody who writes, and exclusively by a rebuild while it
	// exports some clusters; see Reindex.
	mu      sync.RWMutex
	current *index.Writer // nil before they are opened, and where a rebuild had no luck
	next    *index.Writer // nil: no rebuild is under way
	// nextFailed is why next does not have all that current has. The rebuild then gives up; who writes goes on.
	nextFailed atomic.Pointer[error]
}

// Apply implements observers.Sink.
func (f *indexFiles) Apply(ctx context.Context, changes []index.Change) error {
	return f.write(func(w *index.Writer) error { return w.Apply(ctx, changes) })
}

// SetRanks implements observers.Sink.
func (f *indexFiles) SetRanks(ctx context.Context, ranks []index.RankUpdate) error {
	return f.write(func(w *index.Writer) error { return w.SetRanks(ctx, ranks) })
}

// Touch implements observers.Sink. During a rebuild, missing refers to the files that
// readers use; the rebuild exports to the new ones what they lack.
func (f *indexFiles) Touch(ctx context.Context, touches []index.Touch) (missing []index.Touch, err error) {
	err = f.write(func(w *index.Writer) error {
		none, err := w.Touch(ctx, touches)
		if w == f.current {
			missing = none
		}
		return err
	})
	return missing, err
}

func (f *indexFiles) write(do func(*index.Writer) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.current == nil {
		return fmt.Errorf("%w: the index files are not open", notify.ErrFatal)
	}
	if err := do(f.current); err != nil {
		return fileError(err)
	}
	if f.next == nil || f.nextFailed.Load() != nil {
		return nil
	}
	if err := do(f.next); err != nil {
		f.nextFailed.Store(&err)
	}
	return nil
}

// begin has everything written to next as well.
func (f *indexFiles) begin(next *index.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = next
	f.nextFailed.Store(nil)
}

// discard gives next up.
func (f *indexFiles) discard() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.next
	f.next = nil
	return next.Discard()
}

// fill runs part of a rebuild while nobody else writes.
func (f *indexFiles) fill(do func(next *index.Writer) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.nextFailed.Load(); err != nil {
		return spaceError(*err)
	}
	return spaceError(do(f.next))
}

// install puts next in the place of the files that are there. After an error before that
// moment the old files are written as before; discard comes next. After one behind it there are no files.
func (f *indexFiles) install(ctx context.Context) (installed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.nextFailed.Load(); err != nil {
		return false, spaceError(*err)
	}
	if err := f.next.Install(); err != nil {
		return false, spaceError(err)
	}
	f.next = nil
	if f.current != nil {
		// What it could not do it could not do for files that are removed now.
		_ = f.current.Close()
	}
	f.current, err = index.OpenWriter(ctx, f.dir, f.opts)
	return true, spaceError(err)
}

// close closes the files that are open.
func (f *indexFiles) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current == nil {
		return nil
	}
	w := f.current
	f.current = nil
	return spaceError(w.Close())
}

// spaceError marks an error of the index files with store.ErrNoSpace if the disk is full.
func spaceError(err error) error {
	if index.IsFull(err) {
		return fmt.Errorf("%w: %w", store.ErrNoSpace, err)
	}
	return err
}

// fileError marks an error of the index files that concerns all documents: like spaceError,
// and others with notify.ErrFatal.
func fileError(err error) error {
	if index.IsFull(err) {
		return spaceError(err)
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the primary result code
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%w: %w", notify.ErrFatal, err)
	}
	return err
}
