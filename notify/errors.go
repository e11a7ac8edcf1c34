package notify

import (
	"errors"

	"indexer/store"
	"indexer/txn"
)

// Sentinels to test with errors.Is.
var (
	// ErrStopped: the pipeline was stopped, or not started yet.
	ErrStopped = errors.New("notify: the pipeline is not running")
	// ErrFatal, wrapped in the error of an observer's run, stops the pipeline
	// instead of counting against the row: for what no other row and no retry
	// would escape, as a disk that is full.
	ErrFatal = errors.New("notify: observer cannot work at all")
	// ErrPaused: SetWorkers has taken all workers away.
	ErrPaused = errors.New("notify: the pipeline is paused: no workers run observers")
	// ErrNoDeadLetter: the observer has not given up on this row.
	ErrNoDeadLetter = errors.New("notify: no such dead letter")
)

var (
	// errEarly: a notification was found in the table before the commit that sent
	// it is below the start timestamps that are handed out. It will be at once.
	errEarly = errors.New("notify: notification from ahead")
	// errBegin: the run could not even begin. That is no row's fault.
	errBegin = errors.New("notify: begin")
	// errGoexit: the observer ended its goroutine, and with it the worker.
	errGoexit = errors.New("the observer called runtime.Goexit (t.FailNow does)")
)

// permanent tells errors of a run that the next one, from the same state, would meet
// again: a transaction that is larger than the store takes. Whoever wrote the observer
// must split it; until then the row is set aside at once, and a change of it, or a retry
// that somebody asks for, runs it again.
func permanent(err error) bool { return errors.Is(err, store.ErrTooLarge) }

// fatal tells errors that no other row and no retry would escape.
func fatal(err error) bool {
	for _, e := range []error{ErrFatal, store.ErrClosed, txn.ErrClosed, store.ErrNoSpace, store.ErrCorrupt, store.ErrBroken} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
