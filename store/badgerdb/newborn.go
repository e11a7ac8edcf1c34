package badgerdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// openManaged opens Badger. Badger creates its memtable and value-log files in
// two steps, open and truncate; a process that is killed in between leaves one of
// length zero, and Badger takes that for a new file and refuses to open (v4.9.6,
// openMemTables and valueLog.open: z.NewFile is not expected there). It happens
// when a table is created and whenever a memtable is full. Nothing was in such a
// file, so it is removed first.
func openManaged(opts badger.Options) (*badger.DB, error) {
	if err := removeNewborn(opts.Dir); err != nil {
		return nil, err
	}
	return badger.OpenManaged(opts)
}

// removeNewborn removes log files of length zero, under Badger's own lock: in
// the directory of a living process such a file is about to be filled.
func removeNewborn(dir string) (err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, locked, lerr := lockDir(dir)
	if err != nil || lerr != nil || !locked {
		return errors.Join(err, lerr)
	}
	defer func() { err = errors.Join(err, release()) }()
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".mem") && !strings.HasSuffix(e.Name(), ".vlog") {
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
