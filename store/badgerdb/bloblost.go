package badgerdb

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
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
func (p *progress) cutLostValues(logs []*memLog, values *blobs) error {
	if p.mark == nil || p.mark.State != stateOpen || p.same {
		return nil
	}
	for _, l := range logs {
		at, value, err := l.firstLost(values)
		switch {
		case err != nil:
			return err
		case at == 0:
			continue
		case p.strict:
			return errs.Corrupt(values.name(value.file), "%s points to a value at byte %d, which is missing", l.file, value.offset)
		}
		if err := l.cut(at); err != nil {
			return fmt.Errorf("store: cut %s: %w", l.file, err)
		}
		*l = memLog{file: l.file, number: l.number}
		if err := l.read(); err != nil {
			return fmt.Errorf("store: reading %s: %w", l.file, err)
		}
	}
	return nil
}

// firstLost returns where the first group begins in the log that points to a missing
// value, and the pointer; 0 for none.
func (l *memLog) firstLost(values *blobs) (at int64, lost pointer, err error) {
	var (
		value  []byte
		group  int64 // where it begins, 0 between groups
		newest uint32
	)
	if values.newest != nil {
		newest = values.newest.number
	}
	look := memLog{file: l.file, each: func(from int64, record []byte) {
		if group == 0 {
			group = from
		}
		if p, ok := parsePointer(recordValue(record)); ok && at == 0 && err == nil && p.file >= newest {
			var rerr error
			switch value, rerr = values.read(value[:0], p); {
			case errors.Is(rerr, store.ErrCorrupt):
				at, lost = group, p
			case rerr != nil:
				err = rerr
			}
		}
		if record[0]&memLogTxn != 0 && record[0]&memLogEnd != 0 || record[0]&memLogTxn == 0 {
			group = 0
		}
	}}
	if rerr := look.read(); rerr != nil {
		return 0, lost, fmt.Errorf("store: reading %s: %w", l.file, rerr)
	}
	return at, lost, err
}

// cut fills the log with zeros from a byte on, and keeps what it cut off in another
// file.
func (l *memLog) cut(at int64) (err error) {
	f, err := os.OpenFile(l.file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := copyTail(f, at, l.file+lostSuffix); err != nil {
		return err
	}
	return errors.Join(f.Truncate(at), f.Truncate(info.Size()), f.Sync())
}

func copyTail(f *os.File, at int64, to string) (err error) {
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	kept, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(kept, f)
	return errors.Join(err, kept.Close())
}
