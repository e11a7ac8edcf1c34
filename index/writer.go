package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"indexer/index/analysis"
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
	dir, path string
	lock      *writerLock // nil: of OpenNext
	db        *sql.DB     // one connection, used by the goroutine run alone once it runs
	peek      *sql.DB     // read-only connections for the callers of Apply
	tx        *tables
	meta      meta
	mark      *marker // nil: of OpenNext, or the files are behind their mark
	behind    error   // why, as of when they were opened
	opened    State   // as of then
	applied   atomic.Uint64

	mergeErr error // of the last merge; run's, and Close's once run has ended

	requests  chan *request
	closing   chan struct{}
	closeOnce sync.Once
	closeErr  error
	done      sync.WaitGroup
}

// OpenWriter opens the index in dir for writing and creates it, and dir, if
// there is none. Errors: [ErrLocked] when it has a writer already, [ErrForeign],
// [ErrNewerFormat] and [ErrOldFormat] when the file there cannot be used; that file is not touched.
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
	w := newWriter(dir, shardPath(dir))
	w.lock = lock
	if err := w.openCurrent(ctx, opts); err != nil {
		return nil, errors.Join(explain(dir, w.path, "open", err), w.closeFiles())
	}
	w.done.Go(w.run)
	return w, nil
}

func newWriter(dir, path string) *Writer {
	return &Writer{dir: dir, path: path, requests: make(chan *request), closing: make(chan struct{})}
}

// openCurrent opens the files that are in place, or makes them.
func (w *Writer) openCurrent(ctx context.Context, opts WriterOptions) error {
	if err := removeOthers(w.dir); err != nil {
		return err
	}
	err := checkFile(ctx, w.path) // again: another process may have made it before we had the lock
	if errors.Is(err, ErrNoIndex) {
		err = create(ctx, w.path)
	}
	if err != nil {
		return err
	}
	if err := w.open(ctx, opts); err != nil {
		return err
	}
	w.mark = &marker{dir: w.dir}
	m, err := readMark(w.dir)
	if err == nil {
		err = behind(m, &w.meta, w.opened.Applied)
	}
	if err != nil {
		w.mark, w.behind = nil, err // until CaughtUp
		return nil
	}
	return w.mark.put(mark{w.meta.id, w.opened.Applied})
}

func (w *Writer) open(ctx context.Context, opts WriterOptions) (err error) {
	if w.db, err = openDatabase(writerDSN(w.path, opts.Sync)); err != nil {
		return err
	}
	w.db.SetMaxOpenConns(1)
	if w.meta, err = readMeta(ctx, w.db); err != nil {
		return err
	}
	if w.tx, err = openTables(ctx, w.db); err != nil {
		return err
	}
	w.opened = w.tx.state
	w.applied.Store(w.opened.Applied)
	if w.peek, err = openDatabase(readerDSN(w.path, false)); err != nil {
		return err
	}
	w.peek.SetMaxOpenConns(2)
	w.peek.SetMaxIdleConns(2)
	return nil
}

// ID is the random identity stamped into the files when they were created. It
// differs once they are deleted and made anew: what was exported before is then
// no longer there and must be exported again.
func (w *Writer) ID() string { return w.meta.id }

// Succeeds is the ID of the files that these have replaced, as [OpenNext] was told.
func (w *Writer) Succeeds() string { return w.meta.succeeds }

// Opened is the state of the files when they were opened.
func (w *Writer) Opened() State { return w.opened }

// Applied is how many transactions the files have applied by now (State.Applied).
func (w *Writer) Applied() uint64 { return w.applied.Load() }

// Behind says why the files cannot hold all that was written to them, if so: the mark beside them tells more, or it
// is damaged. What is missing is to be applied again, and then CaughtUp called. Until
// then readers refuse the files.
func (w *Writer) Behind() error { return w.behind }

// CaughtUp says that nothing is missing any more. What the files have applied is above least from then on, and above
// what their mark says.
func (w *Writer) CaughtUp(ctx context.Context, least uint64) error {
	m, err := readMark(w.dir)
	if err != nil || m == nil || m.id != w.meta.id {
		m = &mark{id: w.meta.id} // it is written anew
	}
	err = w.submit(ctx, 1, func(t *tables) error {
		t.state.Applied = max(t.state.Applied, m.applied, least)
		w.mark, w.behind = &marker{dir: w.dir}, nil
		return nil
	})
	if err != nil {
		return fmt.Errorf("the index files have caught up: %w", err)
	}
	return nil
}

// NeedsRebuild reports that documents in the index were analysed by another version of
// this package: searches may miss them until the index is made again.
func (w *Writer) NeedsRebuild() bool { return w.meta.analyzer != analysis.Version }

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
	if w.mark != nil {
		errs = append(errs, w.mark.close())
	}
	if w.lock != nil {
		errs = append(errs, w.lock.release())
	}
	return errors.Join(errs...)
}
