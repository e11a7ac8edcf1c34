package badgerdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// openManaged opens Badger. Badger creates its memtable and value-log files in two
// steps, open and truncate. A process that is killed in between leaves a file of
// length zero. Badger v4.9.6 mistakes such a file for a new one and refuses to open
// (openMemTables and valueLog.open do not expect z.NewFile). This can happen when a
// table is created and whenever a memtable is full. The file was never used, so
// openManaged removes it first.
//
// If Badger fails to open, it closes what it has opened, and tries for ever to write out the
// contents of the logs. Open leaves it there, and the process has to end before another
// attempt.
func (f *files) openManaged(opts badger.Options) (*badger.DB, error) {
	if err := removeEmptyLogs(opts.Dir); err != nil {
		return nil, err
	}
	var b *badger.DB
	opened := make(chan error, 1)
	go func() { // ends with the process if it never returns
		db, err := badger.OpenManaged(opts)
		b = db
		opened <- err
	}()
	select {
	case err := <-opened:
		return b, err
	case <-f.failed.many:
		return nil, f.failed.err()
	}
}

// removeEmptyLogs removes log files of length zero. It holds Badger's own lock,
// because a running process may be about to fill such a file.
func removeEmptyLogs(dir string) (err error) {
	release, locked, err := system.Lock(dir)
	if err != nil || !locked {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != memlog.Suffix && ext != valueLogSuffix {
			continue
		}
		info, err := e.Info()
		if err != nil || info.Size() > 0 {
			continue // gone, or in use
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("store: remove an empty log file: %w", err)
		}
	}
	return nil
}
