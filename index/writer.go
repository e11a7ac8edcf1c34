package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/index/analysis"
)

// WriterOptions are the settings of a [Writer]. The zero value is usable.
type WriterOptions struct {
	// Sync makes every transaction durable against power loss (synchronous=FULL, one fsync
	// per transaction). Without it, a killed process loses nothing, and a power loss loses
	// the last transactions, but never the consistency of the file.
	Sync bool
}

// Writer is the one writer of an index. All methods are safe for concurrent use, except that one
// goroutine calls Behind and CaughtUp.
type Writer struct {
	dir, path string
	lock      *writerLock // nil for OpenNext
	db        *sql.DB     // one connection; once run has started, only run uses it
	peek      *sql.DB     // read-only connections for the callers of Apply
	peekHash  *sql.Stmt   // of sameText
	tx        *tables
	meta      meta
	mark      *marker               // nil for OpenNext, and if the files are behind their mark
	behind    error                 // why the files were behind when they were opened
	opened    State                 // state at that time
	state     atomic.Pointer[State] // committed so far

	mergeErr error // of the last merge; owned by run, and by Close after run has ended

	requests  chan *request
	closing   chan struct{}
	closeOnce sync.Once
	closeErr  error
	done      sync.WaitGroup
}

// OpenWriter opens the index in dir for writing. It creates dir and the index if they do
// not exist. Errors: [ErrLocked] if the index already has a writer; [ErrForeign],
// [ErrNewerFormat] and [ErrOldFormat] if the file there cannot be used; OpenWriter leaves
// it alone.
func OpenWriter(ctx context.Context, dir string, opts WriterOptions) (*Writer, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	// A foreign file is reported before any file is created next to it.
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

// openCurrent opens the current files, or makes them.
func (w *Writer) openCurrent(ctx context.Context, opts WriterOptions) error {
	if err := removeOthers(w.dir); err != nil {
		return err
	}
	err := checkFile(ctx, w.path) // again: another process may have made the index before we had the lock
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
	w.state.Store(&w.opened)
	if w.peek, err = openDatabase(readerDSN(w.path, false)); err != nil {
		return err
	}
	w.peek.SetMaxOpenConns(2)
	w.peek.SetMaxIdleConns(2)
	w.peekHash, err = w.peek.PrepareContext(ctx, "SELECT hash FROM docs WHERE cluster=?")
	return err
}

// ID returns the random identity that the files got when they were created. The ID
// changes if the files are deleted and made again: what was exported before is then
// missing and has to be exported again.
func (w *Writer) ID() string { return w.meta.id }

// Succeeds returns the ID of the files that these replaced, as passed to [OpenNext].
func (w *Writer) Succeeds() string { return w.meta.succeeds }

// Opened returns the state of the files when they were opened.
func (w *Writer) Opened() State { return w.opened }

// Applied returns the number of transactions applied so far (State.Applied).
func (w *Writer) Applied() uint64 { return w.state.Load().Applied }

// State returns the current state of the files.
func (w *Writer) State() State { return *w.state.Load() }

// Behind returns an error that says why the files cannot have everything that was written
// to them: their mark has more transactions, or is damaged. If nothing is missing, it
// returns nil. Otherwise the caller has to apply again what is missing, and then call
// CaughtUp. Until then readers refuse the files.
func (w *Writer) Behind() error { return w.behind }

// CaughtUp declares that the index is complete. From then on, the number of applied
// transactions is above least and above that of the mark.
func (w *Writer) CaughtUp(ctx context.Context, least uint64) error {
	m, err := readMark(w.dir)
	if err != nil || m == nil || m.id != w.meta.id {
		m = &mark{id: w.meta.id} // it is written anew
	}
	err = w.submit(ctx, 1, func(t *tables) error {
		t.state.Applied = max(t.state.Applied, m.applied, least)
		return nil
	})
	if err == nil && w.behind != nil { // not before: the next mark would have fewer transactions than the last one
		err = w.submit(ctx, 1, func(*tables) error {
			w.mark, w.behind = &marker{dir: w.dir}, nil
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("record that the index files have caught up: %w", err)
	}
	return nil
}

// NeedsRebuild reports whether another version of this program has analysed documents in
// the index. Searches may miss them until the index is rebuilt.
func (w *Writer) NeedsRebuild() bool { return w.meta.analyzer != analysis.Version }

// Close finishes the requests that it has, moves the write-ahead log into the database, and
// releases the files. If the last merge failed, which no caller has learnt, Close tries it
// again and returns the error. Afterwards, methods that write return [ErrClosed].
func (w *Writer) Close() error {
	w.closeOnce.Do(func() {
		close(w.closing)
		w.done.Wait()
		if w.mergeErr != nil {
			w.merge()
		}
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
	if w.peekHash != nil {
		errs = append(errs, w.peekHash.Close())
	}
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
