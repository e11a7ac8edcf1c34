package badgerdb

import (
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
)

// Badger writes a memtable to a table file, adds the file to its MANIFEST, syncs that, and
// only then removes the log. If that fails, Badger 4.9.6 removes the table file and does all of it
// again, with another file. The data is safe, first in the log and then in the other file.
//
// Badger has no hook there, but it logs a line in between. From that line on, the table refuses
// writes, because the disk has failed. If the disk keeps failing, closing Badger would never end: then
// Close blocks Badger where it logs the line, and abandons it.
const (
	flushFailed = "error flushing memtable to disk"
	dropFailed  = "While trying to flush memtable" // in DropPrefix, which does not try again
	// After failsMany failures within closeWithin, the disk counts as failing for good. Badger
	// tries again after a second.
	failsMany = 5
)

// failedFlushes are the attempts to write a memtable, or another table file, that have failed.
type failedFlushes struct {
	failure atomic.Pointer[error] // the first one
	times   atomic.Int64
	many    chan struct{} // closed after failsMany

	holding atomic.Bool   // the goroutine that clears it decides whether Badger is blocked
	held    chan struct{} // closed when Badger is held
}

func newFailedFlushes() *failedFlushes {
	return &failedFlushes{many: make(chan struct{}), held: make(chan struct{})}
}

// fail makes the table refuse writes.
func (f *failedFlushes) fail(why error) {
	why = errs.Run("writing a table file", why)
	f.failure.CompareAndSwap(nil, &why)
}

// note is called between a flush that has failed and the next attempt.
func (f *failedFlushes) note(why error) {
	f.fail(why)
	if f.times.Add(1) == failsMany {
		close(f.many)
	}
	if f.holding.CompareAndSwap(true, false) {
		close(f.held)
		select {} // the process is about to end
	}
}

// hold waits until Badger is blocked before its next attempt, and reports whether it is.
// Otherwise Badger continues: it has succeeded at last, or an attempt takes very long.
func (f *failedFlushes) hold() bool {
	f.holding.Store(true)
	select {
	case <-f.held:
		return true
	case <-time.After(closeWithin):
		if f.holding.CompareAndSwap(true, false) {
			return false
		}
		<-f.held
		return true
	}
}

// err returns the first reason, or nil if none has failed.
func (f *failedFlushes) err() error {
	if p := f.failure.Load(); p != nil {
		return *p
	}
	return nil
}
