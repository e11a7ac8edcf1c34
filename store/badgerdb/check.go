package badgerdb

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// checkFiles checks everything that Badger would misread, or on which it would panic or
// leak goroutines: that no file claims to be encrypted, the list of tables, the tables,
// and, against the mark, the logs. It returns the baseline from which the table continues.
// It takes Badger's own lock too, because a version of the program without the mark has no
// other.
func checkFiles(dir string, m *mark, opts Options, verify *verifier, values *blobs) (next baseline, err error) {
	release, locked, err := system.Lock(badgerDir(dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkProgress(dir, m, 0, values, opts.Logger)
	case err != nil:
		return next, err
	case !locked:
		return next, errs.InUse(dir)
	}
	defer func() { err = errors.Join(err, release()) }()
	files, err := dirfile.Matching(badgerDir(dir), "*")
	if err != nil {
		return next, err
	}
	for _, file := range files {
		if err := checkPlain(file); err != nil {
			return next, err
		}
	}
	if !slices.Contains(files, manifest.File(dir)) {
		if err := manifest.CheckMissing(dir, files); err != nil {
			return next, err
		}
	}
	list, err := manifest.Read(dir)
	if err != nil {
		return next, err
	}
	greatest, err := verify.open(list, cmp.Or(opts.VerifyAtOnce, verifyAtOnce))
	if err != nil {
		return next, err
	}
	if err := checkDiscard(dir, opts.Logger); err != nil {
		return next, err
	}
	return checkProgress(dir, m, greatest, values, opts.Logger)
}

// checkPlain checks that a log, or the registry of keys, says at its beginning
// that it is not encrypted. An empty log is one that was being made.
func checkPlain(file string) error {
	at, plain := int64(0), make([]byte, 8) // the key id
	log := true
	switch filepath.Ext(file) {
	case memlog.Suffix, valueLogSuffix:
	default:
		if filepath.Base(file) != badger.KeyRegistryFileName {
			return nil
		}
		at, plain, log = 16, []byte("Hello Badger"), false
	}
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	got := make([]byte, len(plain))
	switch _, err = f.ReadAt(got, at); {
	case log && info.Size() == 0:
		return nil
	case errors.Is(err, io.EOF), log && info.Size() < memlog.HeaderBytes:
		return errs.Corrupt(file, "it has been cut to %d bytes", info.Size())
	case err != nil:
		return fmt.Errorf("store: reading %s: %w", file, err)
	case !bytes.Equal(got, plain):
		return errs.Corrupt(file, "it does not begin as it should")
	}
	return nil
}
