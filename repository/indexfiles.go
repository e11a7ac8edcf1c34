package repository

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/store"
)

// indexFiles is the observers' sink: the index files, or another index, and during a rebuild
// also the new index.
//
// It distinguishes errors of the files from errors of one document. A document that cannot be
// written becomes a dead letter after several attempts, and other documents continue. But if
// the disk is full or the files are damaged, all documents would become dead letters one by
// one, and none would be exported once there is room again. So such an error stops the
// pipeline, and the remaining work stays in the table for the next Open.
type indexFiles struct {
	dir  string
	opts index.WriterOptions

	outage outage // writes to the index, if it is not index files

	// Every writer holds mu shared, and each step of a rebuild holds it exclusively; see
	// Reindex.
	mu      sync.RWMutex
	current observers.Sink // nil before it is opened, and after a rebuild that failed to open the new files
	own     *index.Writer  // current, if it is index files
	next    NextIndex      // nil unless a rebuild is under way
	// nextFailed is the error that made next miss something that current has. Then the
	// rebuild fails, and writers continue.
	nextFailed atomic.Pointer[error]
}

// Apply implements observers.Sink.
func (f *indexFiles) Apply(ctx context.Context, changes []index.Change) error {
	return f.write(func(w observers.Sink) error { return w.Apply(ctx, changes) })
}

// SetRanks implements observers.Sink.
func (f *indexFiles) SetRanks(ctx context.Context, ranks []index.RankUpdate) error {
	return f.write(func(w observers.Sink) error { return w.SetRanks(ctx, ranks) })
}

// Touch implements observers.Sink. During a rebuild, missing refers to the files that
// readers use; the rebuild exports to the new files what they lack.
func (f *indexFiles) Touch(ctx context.Context, touches []index.Touch) (missing []index.Touch, err error) {
	err = f.write(func(w observers.Sink) error {
		none, err := w.Touch(ctx, touches)
		if w == f.current {
			missing = none
		}
		return err
	})
	return missing, err
}

func (f *indexFiles) write(do func(observers.Sink) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.current == nil {
		return fmt.Errorf("%w: the index is not open", notify.ErrFatal)
	}
	switch err := do(f.current); {
	case err == nil:
		f.outage.answered()
	case errors.Is(err, search.ErrUnavailable):
		f.outage.failed(err)
		return fileError(err)
	default:
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

// prune forgets documents that were removed below a Seq. It does nothing if the index is not files.
func (f *indexFiles) prune(ctx context.Context, below uint64) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.own == nil {
		return nil
	}
	return fileError(f.own.PruneTombstones(ctx, below))
}

// replace rebuilds the index: it makes writers also write to next, fills next, and installs it in
// place of the current index. After an error it discards next, unless next was installed.
func (f *indexFiles) replace(ctx context.Context, next NextIndex, fill func() error, install func() (installed bool, err error)) (err error) {
	f.begin(next)
	installed := false
	defer func() {
		if !installed {
			err = errors.Join(err, f.discard(ctx))
		}
	}()
	if err := fill(); err != nil {
		return fmt.Errorf("export to a new index: %w", err)
	}
	if installed, err = install(); err != nil {
		return fmt.Errorf("put the new index in place: %w", err)
	}
	return nil
}

// begin makes writers also write to next.
func (f *indexFiles) begin(next NextIndex) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = next
	f.nextFailed.Store(nil)
}

// discard removes next, even if ctx has ended.
func (f *indexFiles) discard(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.next
	f.next = nil
	return next.Discard(context.WithoutCancel(ctx))
}

// fill runs one step of a rebuild while other writers are blocked.
func (f *indexFiles) fill(do func(next observers.Sink) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.nextFailed.Load(); err != nil {
		return spaceError(*err)
	}
	return spaceError(do(f.next))
}

// install replaces the current files with next, and reports whether it did. If it did not,
// writers continue with the old files, and the caller calls discard. If it did but fails
// afterwards, no files are open.
func (f *indexFiles) install(ctx context.Context) (installed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.putInPlace(ctx); err != nil {
		return false, err
	}
	if f.own != nil {
		// An error concerns files that have just been replaced.
		_ = f.own.Close()
	}
	f.current, f.own = nil, nil
	return true, f.open(ctx)
}

// installOther does what install does, for an index that is not files: other now writes
// to what next has made.
func (f *indexFiles) installOther(ctx context.Context, other observers.Sink) (installed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.putInPlace(ctx); err != nil {
		return false, err
	}
	f.current = other
	return true, nil
}

func (f *indexFiles) putInPlace(ctx context.Context) error {
	if err := f.nextFailed.Load(); err != nil {
		return spaceError(*err)
	}
	if err := f.next.Install(ctx); err != nil {
		return spaceError(err)
	}
	f.next = nil
	return nil
}

// open opens the files in dir. The caller holds mu, or no other goroutine uses f yet.
func (f *indexFiles) open(ctx context.Context) error {
	w, err := index.OpenWriter(ctx, f.dir, f.opts)
	if err != nil {
		return spaceError(err)
	}
	f.current, f.own = w, w
	return nil
}

// use makes an index that is not files the current one.
func (f *indexFiles) use(other observers.Sink) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = other
}

// close closes the current files, if they are open. The caller closes an index that is
// not files.
func (f *indexFiles) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.own
	f.current, f.own = nil, nil
	if w == nil {
		return nil
	}
	return spaceError(w.Close())
}

// nextFiles are new index files that will replace the current ones.
type nextFiles struct{ *index.Writer }

// Install implements NextIndex.
func (n nextFiles) Install(context.Context) error { return n.Writer.Install() }

// Discard implements NextIndex.
func (n nextFiles) Discard(context.Context) error { return n.Writer.Discard() }

// spaceError wraps an error of the index files in store.ErrNoSpace if the disk is full.
func spaceError(err error) error {
	if index.IsFull(err) {
		return fmt.Errorf("%w: %w", store.ErrNoSpace, err)
	}
	return err
}

// fileError wraps an error of the index files that affects all documents: in
// store.ErrNoSpace if the disk is full, and in notify.ErrFatal otherwise.
func fileError(err error) error {
	switch {
	case errors.Is(err, search.ErrUnavailable):
		return fmt.Errorf("%w: %w", notify.ErrUnavailable, err)
	case errors.Is(err, index.ErrUnusable):
		return fmt.Errorf("%w: %w", notify.ErrFatal, err)
	}
	if index.IsFull(err) {
		return spaceError(err)
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff { // the primary result code
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%w: %w", notify.ErrFatal, err)
	}
	return err
}
