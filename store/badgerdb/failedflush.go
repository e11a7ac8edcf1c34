package badgerdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4/pb"

	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/tablefile"
)

// Badger writes a memtable to a table file, adds the file to its MANIFEST, syncs that, and
// only then removes the log. If the sync fails, Badger 4.9.6 removes the table file and does
// all of it again, with another file. The data is safe, first in the log and then in the other
// file. But the MANIFEST still names the removed file, and the directory cannot be opened
// again.
//
// Badger has no hook there, but it logs a line in between. From that line on, the table refuses
// writes, because the disk has failed, and Close removes the lost files from the MANIFEST. After a
// crash before that, Open reports that a table file is missing. If the disk keeps failing, closing
// Badger would never end: then Close blocks Badger where it logs the line, and abandons it.
const (
	flushFailed = "error flushing memtable to disk"
	dropFailed  = "While trying to flush memtable" // in DropPrefix, which does not try again
	// After failsMany failures within closeWithin, the disk counts as failing for good. Badger
	// tries again after a second.
	failsMany = 5
)

// failedFlushes are the table files that Badger has removed while its MANIFEST names them.
type failedFlushes struct {
	dir string

	failure atomic.Pointer[error] // the first one
	times   atomic.Int64
	many    chan struct{} // closed after failsMany
	mu      sync.Mutex
	removed map[uint64]bool

	holding atomic.Bool   // the goroutine that clears it decides whether Badger is blocked
	held    chan struct{} // closed when Badger is held
}

func newFailedFlushes(dir string) *failedFlushes {
	return &failedFlushes{dir: dir, removed: make(map[uint64]bool), many: make(chan struct{}), held: make(chan struct{})}
}

// note is called between a flush that has failed and the next attempt. A compaction under way may
// also have removed files, but it takes them out of the MANIFEST first.
func (f *failedFlushes) note(why error) {
	list, err := manifest.Read(f.dir)
	if err == nil {
		f.mu.Lock()
		for id := range list.Tables {
			if isMissing(tablefile.Path(f.dir, id)) {
				f.removed[id] = true
			}
		}
		f.mu.Unlock()
	}
	why = errs.Run("writing a table file", errors.Join(why, err))
	f.failure.CompareAndSwap(nil, &why)
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

// err returns the reason why the first flush failed, or nil if none has failed.
func (f *failedFlushes) err() error {
	if p := f.failure.Load(); p != nil {
		return *p
	}
	return nil
}

func isMissing(file string) bool {
	_, err := os.Stat(file)
	return errors.Is(err, fs.ErrNotExist)
}

// unlist takes the removed files out of the MANIFEST. Badger must be closed, or held.
func (f *failedFlushes) unlist() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.removed) == 0 {
		return nil
	}
	list, err := manifest.Read(f.dir)
	if err != nil {
		return err
	}
	var set pb.ManifestChangeSet
	for id := range f.removed {
		if list.Lists(id) && isMissing(tablefile.Path(f.dir, id)) {
			set.Changes = append(set.Changes, &pb.ManifestChange{Id: id, Op: pb.ManifestChange_DELETE})
		}
	}
	if len(set.Changes) == 0 {
		return nil
	}
	if err := manifest.Append(f.dir, &set); err != nil {
		return fmt.Errorf("store: take removed files out of the list of tables: %w", err)
	}
	return nil
}
