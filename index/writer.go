package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// WriterOptions are the settings of a [Writer]. The zero value is usable.
type WriterOptions struct {
	// Sync makes every transaction durable against power loss (synchronous=FULL,
	// one fsync per transaction). Without it a killed process loses nothing and a
	// lost machine the last moments, never the consistency of the file.
	Sync bool
}

// Writer is the one writer of an index. All methods are safe for concurrent use.
type Writer struct {
	dir  string
	lock *writerLock
	db   *sql.DB // one connection, used by the goroutine run alone once it runs
	peek *sql.DB // read-only connections for the callers of Apply
	tx   *tables
	id   string

	needsRebuild atomic.Bool
	mergeErr     error // of the last merge; run's, and Close's once run has ended

	requests  chan *request
	closing   chan struct{}
	closeOnce sync.Once
	closeErr  error
	done      sync.WaitGroup
}

// OpenWriter opens the index in dir for writing and creates it, and dir, if
// there is none. Errors: [ErrLocked] when it has a writer already, [ErrForeign]
// and [ErrNewerFormat] when the file there cannot be used; that file is not touched.
func OpenWriter(ctx context.Context, dir string, opts WriterOptions) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	// A foreign file is reported before anything is put beside it.
	if err := checkFile(ctx, shardPath(dir)); err != nil && !errors.Is(err, ErrNoIndex) {
		return nil, fmt.Errorf("index: %w", err)
	}
	lock, err := lockWriter(ctx, dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, lock: lock, requests: make(chan *request), closing: make(chan struct{})}
	if err := w.open(ctx, opts); err != nil {
		return nil, errors.Join(fmt.Errorf("index %s: %w", dir, err), w.closeFiles())
	}
	w.done.Go(w.run)
	return w, nil
}

func (w *Writer) open(ctx context.Context, opts WriterOptions) error {
	path := shardPath(w.dir)
	err := checkFile(ctx, path) // again: another process may have made it before we had the lock
	if errors.Is(err, ErrNoIndex) {
		err = create(ctx, w.dir)
	}
	if err != nil {
		return err
	}
	if w.db, err = sql.Open("sqlite", writerDSN(path, opts.Sync)); err != nil {
		return err
	}
	w.db.SetMaxOpenConns(1)
	if err := upgrade(ctx, w.db); err != nil {
		return err
	}
	m, err := readMeta(ctx, w.db)
	if err != nil {
		return err
	}
	w.id = m.id
	w.needsRebuild.Store(m.analyzer != AnalyzerVersion)
	if w.tx, err = openTables(ctx, w.db); err != nil {
		return err
	}
	if w.peek, err = sql.Open("sqlite", readerDSN(path, false)); err != nil {
		return err
	}
	w.peek.SetMaxOpenConns(2)
	w.peek.SetMaxIdleConns(2)
	return nil
}

// ID is the random identity stamped into the files when they were created. It
// differs once they are deleted and made anew: what was exported before is then
// no longer there and must be exported again.
func (w *Writer) ID() string { return w.id }

// NeedsRebuild reports that documents in the index were analysed by another
// version of this package: searches may miss them until [Writer.Rebuild] has run.
func (w *Writer) NeedsRebuild() bool { return w.needsRebuild.Load() }

// Close finishes what has been handed over, moves the write-ahead log into the
// database and releases the files. It also tells of an error of merging, which no
// change was there to be told of; the next merge makes up for it. Calls that come later get [ErrClosed].
func (w *Writer) Close() error {
	w.closeOnce.Do(func() {
		close(w.closing)
		w.done.Wait()
		w.closeErr = errors.Join(w.closeFiles(), w.mergeErr)
	})
	return w.closeErr
}

func (w *Writer) isClosing() bool {
	select {
	case <-w.closing:
		return true
	default:
		return false
	}
}

func (w *Writer) closeFiles() error {
	var errs []error
	if w.peek != nil {
		errs = append(errs, w.peek.Close())
	}
	if w.tx != nil {
		errs = append(errs, w.tx.close())
	}
	if w.db != nil {
		errs = append(errs, w.db.Close())
	}
	return errors.Join(append(errs, w.lock.release())...)
}
