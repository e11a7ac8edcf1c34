package badgerdb

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// Logger is the part of zap.SugaredLogger that the engine uses.
type Logger interface {
	Errorf(format string, args ...any)
	Warnf(format string, args ...any)
	Infof(format string, args ...any)
	Debugf(format string, args ...any)
}

// loggerOf returns l, or a Logger that drops everything for nil.
func loggerOf(l Logger) Logger {
	if l == nil {
		return silent{}
	}
	return l
}

type silent struct{}

func (silent) Errorf(string, ...any) {}
func (silent) Warnf(string, ...any)  {}
func (silent) Infof(string, ...any)  {}
func (silent) Debugf(string, ...any) {}

// badgerLog passes Badger's messages on, and listens for eight of them, because Badger has
// no other hooks. "Ignoring table …" says that Badger opens without a table file whose
// checksum is wrong, which would silently lose its cells, so Open fails. Three come before a
// compaction makes a table file (tablemaking.go, listsync.go), and when it has succeeded or failed. One
// comes after DropPrefix, whose compactions of lower levels have the number 0, and do not say that they
// have ended. One says that a memtable was full (blobsync.go), and the last two that it could not be
// written (failedflush.go).
type badgerLog struct {
	to        Logger
	making    func(compactor int, keys uint64) // called before a compaction makes a table file; may be nil
	compacted func(compactor int)              // called after a compaction; may be nil
	flushes   *atomic.Uint64                   // counts the memtables that were full; may be nil
	failed    func(error)                      // called when one of them could not be written; may be nil

	mu      sync.Mutex
	ignored []string // names of ignored table files
}

const (
	ignoringTable  = "Ignoring table "
	compactionDone = "[Compactor: %d] Compaction for level: %d DONE"
	compactFailed  = "[Compactor: %d] LOG Compact FAILED"
	dropDone       = "DropPrefix done" // before other compactions begin again
)

func (l *badgerLog) Errorf(format string, args ...any) {
	if strings.HasPrefix(format, ignoringTable) {
		l.mu.Lock()
		l.ignored = append(l.ignored, strings.TrimPrefix(fmt.Sprintf(format, args...), ignoringTable))
		l.mu.Unlock()
	}
	l.to.Errorf("badger: "+trimmed(format), args...)
	if l.failed != nil && (strings.HasPrefix(format, flushFailed) || strings.HasPrefix(format, dropFailed)) {
		l.failed(fmt.Errorf(strings.TrimSuffix(trimmed(format), ", retrying"), args...)) // may not return
	}
}

func (l *badgerLog) Warningf(format string, args ...any) {
	if l.compacted != nil && strings.HasPrefix(format, compactFailed) {
		l.compacted(args[0].(int))
	}
	l.to.Warnf("badger: "+trimmed(format), args...)
}

// Infof logs at the debug level: what Badger finds worth telling is a detail to the user
// of the table.
func (l *badgerLog) Infof(format string, args ...any) {
	if l.compacted != nil && strings.HasPrefix(format, dropDone) {
		l.compacted(0)
	}
	l.to.Debugf("badger: "+trimmed(format), args...)
}

func (l *badgerLog) Debugf(format string, args ...any) {
	switch {
	case l.making != nil && strings.HasPrefix(format, makingTable):
		l.making(args[0].(int), args[1].(uint64))
	case l.compacted != nil && strings.HasPrefix(format, compactionDone):
		l.compacted(args[0].(int))
	case l.flushes != nil && strings.HasPrefix(format, flushingMemtable):
		l.flushes.Add(1)
	}
}

func trimmed(format string) string { return strings.TrimRight(format, "\n") }

// ignoredTables lists the table files that opening left out.
func (l *badgerLog) ignoredTables() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ignored
}
