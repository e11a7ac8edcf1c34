package badgerdb

import (
	"errors"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
)

// A machine that crashes while a table is open without SyncWrites may have written the log
// of a memtable to the disk, but not all values to which the log points. Then Open cuts
// the log before the first group that points to a missing value, and progress.go treats it
// like a log that was torn there: it keeps what was complete before the cut, and logs the
// loss of what came after.
//
// Only values in the newest blob file can be missing in that way. Each older one was on the
// disk before the next one was made. A pointer from an old log into a file that is gone is
// one that was replaced before the file was removed (blobgc.go). It is not a reason to cut.

// cutLostValues cuts logs where values are missing, and reads them again.
func (p *progress) cutLostValues(logs []*memlog.Log, values *blobs) error {
	if p.mark == nil || p.mark.State != stateOpen || p.same {
		return nil
	}
	for _, l := range logs {
		at, value, err := firstLost(l, values)
		switch {
		case err != nil:
			return err
		case at == 0:
			continue
		case p.strict:
			return errs.Corrupt(values.name(value.file), "%s points to a value at byte %d, which is missing", l.File, value.offset)
		}
		if err := l.Cut(at); err != nil {
			return err
		}
	}
	return nil
}

// firstLost returns where in the log the first group begins that points to a missing
// value, and the pointer. It returns 0 if there is no such group.
func firstLost(l *memlog.Log, values *blobs) (at int64, lost pointer, err error) {
	var (
		value  []byte
		newest uint32
	)
	if values.newest != nil {
		newest = values.newest.number
	}
	at, err = l.FirstGroup(func(stored []byte) (bool, error) {
		p, ok := parsePointer(stored)
		if !ok || p.file < newest {
			return false, nil
		}
		var err error
		if value, err = values.read(value[:0], p); errors.Is(err, store.ErrCorrupt) {
			lost = p
			return true, nil
		}
		return false, err
	})
	return at, lost, err
}
