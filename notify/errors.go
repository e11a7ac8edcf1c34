package notify

import (
	"errors"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Sentinel errors to test with errors.Is.
var (
	// ErrStopped means that the pipeline was stopped, or not started yet.
	ErrStopped = errors.New("notify: the pipeline is not running")
	// ErrFatal, wrapped in the error of an observer's run, stops the pipeline instead of counting
	// against the row. It is for errors that would affect every row and every retry, such as a
	// full disk.
	ErrFatal = errors.New("notify: the observer cannot run")
	// ErrUnavailable, wrapped in the error of an observer's run, says that something the
	// observer needs besides the table did not answer, such as a search server. The row is
	// run again until it does, and the run does not count against it.
	ErrUnavailable = errors.New("notify: something that the observer needs does not answer")
	// ErrPaused: SetWorkers has set the number of workers to 0.
	ErrPaused = errors.New("notify: the pipeline is paused: no workers run observers")
	// ErrNotHeld means that another process holds the lease of the observer.
	ErrNotHeld = errors.New("notify: this process does not hold the lease")
	// ErrNoDeadLetter means that the observer has not given up on this row.
	ErrNoDeadLetter = errors.New("notify: no such dead letter")
)

var (
	// errEarly means that a notification was found in the table before start timestamps had
	// reached the commit that sent it. They soon will.
	errEarly = errors.New("notify: the notification has a future timestamp")
	// errBegin means that the run could not begin. No row caused that.
	errBegin = errors.New("notify: begin")
	// errGoexit means that the observer ended its goroutine, and with it the worker.
	errGoexit = errors.New("the observer called runtime.Goexit (t.FailNow does)")
)

// permanent reports whether the next run, from the same state, would fail with the same
// error: a transaction that is too large for the store. The author of the observer
// must split it. Until then the row is set aside at once; a change of it, or a
// retry on request, runs it again.
func permanent(err error) bool { return errors.Is(err, store.ErrTooLarge) }

// fatal reports whether an error would hit every row and every retry.
func fatal(err error) bool {
	return errors.Is(err, ErrFatal) || errors.Is(err, txn.ErrClosed) || store.Fatal(err)
}
