package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/webindexer/indexer/index/cksumvfs"
)

// Errors that callers tell apart with errors.Is.
var (
	// ErrNoIndex means that the directory holds no index yet.
	ErrNoIndex = errors.New("no index yet")
	// ErrLocked means that another writer, in this or another process, has the index open.
	ErrLocked = errors.New("index already has a writer")
	// ErrForeign means that the file where the index should be is not an index.
	ErrForeign = errors.New("not an index file")
	// ErrNotDirectory means that a file is in the place of the directory.
	ErrNotDirectory = errors.New("the index files need a directory, and a file is in its place")
	// ErrNewerFormat means that the index was written by a newer version of the program.
	ErrNewerFormat = errors.New("index format is newer than this program")
	// ErrOldFormat means that the index was written by an older version.
	ErrOldFormat = errors.New("index format is older than this program")
	// ErrClosed means that the writer has been closed.
	ErrClosed = errors.New("index writer is closed")
	// ErrInvalid means that a change cannot be stored (no URL, a rank that is not a finite
	// number, …). No change of that call was applied.
	ErrInvalid = errors.New("invalid change")
	// ErrCorrupt means that the files are damaged, or disagree with each other.
	ErrCorrupt = errors.New("index is damaged")
	// ErrBehind means that the files are sound, but older than the last write.
	ErrBehind = errors.New("index is behind what was written to it")
)

// filesPerConnection is how many files a connection opens: the database, its log, the memory
// that connections share, and the directory.
const filesPerConnection = 4

// openError adds the reason to an error if SQLite could not open a database or a file that belongs
// to it, because SQLite does not give it: this process may not use the file or its directory, which
// is fs.ErrPermission, or has too many open files, which is syscall.EMFILE. openError finds out whether
// the process could open its files now.
func openError(path string, err error) error {
	code := sqliteCode(err)
	if code != sqlite3.SQLITE_CANTOPEN && code != sqlite3.SQLITE_READONLY || errors.Is(err, syscall.EMFILE) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	for _, name := range [...]string{path, path + "-wal", path + "-shm", filepath.Dir(path)} {
		if denied(name, code == sqlite3.SQLITE_READONLY) {
			return fmt.Errorf("%w: %s: %w", err, name, fs.ErrPermission)
		}
	}
	if code == sqlite3.SQLITE_READONLY {
		return err
	}
	for range filesPerConnection {
		f, failed := os.Open(os.DevNull)
		if errors.Is(failed, syscall.EMFILE) {
			return fmt.Errorf("%w: %w", err, syscall.EMFILE)
		}
		if failed != nil {
			return err
		}
		defer func() { _ = f.Close() }() // nothing was written
	}
	return err
}

// explain says what failed on which index. It marks damage as such, and names the file,
// because SQLite does neither.
func explain(dir, path, what string, err error) error {
	err = openError(path, err)
	if !IsDamage(err) || errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("index %s: %s: %w", dir, what, err)
	}
	if cksumvfs.IsFault(extendedCode(err)) {
		return fmt.Errorf("index %s: %s: %w: a page of %s does not match its checksum: %w", dir, what, ErrCorrupt, path, err)
	}
	return fmt.Errorf("index %s: %s: %w: %s: %w", dir, what, ErrCorrupt, path, err)
}

// IsFull reports whether an error means that the disk is full. SQLite reports that
// differently for its shared memory.
func IsFull(err error) bool {
	code := extendedCode(err)
	return code&0xff == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE || errors.Is(err, syscall.ENOSPC)
}

// IsDamage reports whether an error means that the index files are damaged, as found by
// Check or by SQLite.
func IsDamage(err error) bool {
	code := sqliteCode(err)
	return errors.Is(err, ErrCorrupt) || code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}
