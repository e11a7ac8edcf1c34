// Package errs makes the errors of package store from those of files and of Badger.
package errs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// Badger wraps most of its errors with their text alone, so only the text tells
// them apart.
var (
	// damageTexts mean damaged data in every error.
	damageTexts = []string{"checksum", "CHECKSUM", "bad magic", "corrupt"}
	// openDamageTexts mean it in errors of opening a directory.
	openDamageTexts = []string{
		"does not exist for table", "unsupported version", "failed to decompress", "failed to decode",
		"manifest", "MANIFEST", "Unable to parse", "unexpected EOF",
	}
)

// Open says what is wrong with a directory that Badger cannot open.
func Open(dir string, err error) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "Another process is using this Badger database"):
		return InUse(dir)
	case noSpace(err):
		return fmt.Errorf("%w: opening %s: %w", store.ErrNoSpace, dir, err)
	case FailedIO(err):
		return fmt.Errorf("%w: opening %s: %w", store.ErrIO, dir, err)
	case strings.Contains(text, "permission denied"):
		return fmt.Errorf("store: opening %s: %w; check who owns its files", dir, err)
	case containsAny(text, damageTexts), containsAny(text, openDamageTexts):
		return fmt.Errorf("%w: opening %s: %w; restore it from a backup, or rebuild it", store.ErrCorrupt, dir, err)
	}
	return fmt.Errorf("store: opening %s: %w", dir, err)
}

// Corrupt says that a file is damaged, and in what way.
func Corrupt(file, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s; restore the directory from a backup, or rebuild it", store.ErrCorrupt, file, fmt.Sprintf(format, args...))
}

// InUse says that another process has a directory open.
func InUse(dir string) error {
	return fmt.Errorf("%w: %s%s; stop it, or use another directory", store.ErrInUse, dir, holder(dir))
}

// holder names the process that holds a directory, or returns "" if the lock file does not tell.
func holder(dir string) string {
	pid, err := os.ReadFile(filepath.Join(dir, dirfile.Badger, "LOCK"))
	id := strings.TrimSpace(string(pid))
	if err != nil || id == "" {
		return ""
	}
	if id == fmt.Sprint(os.Getpid()) {
		return " (opened twice in this process)"
	}
	return " (process " + id + ")"
}

// Run translates an error of a running Badger.
func Run(doing string, err error) error {
	switch {
	case errors.Is(err, badger.ErrDBClosed), errors.Is(err, badger.ErrBlockedWrites):
		return fmt.Errorf("%w: %s", store.ErrClosed, doing)
	case noSpace(err):
		return fmt.Errorf("%w: %s: %w", store.ErrNoSpace, doing, err)
	case FailedIO(err):
		return fmt.Errorf("%w: %s: %w", store.ErrIO, doing, err)
	case containsAny(err.Error(), damageTexts):
		return fmt.Errorf("%w: %s: %w", store.ErrCorrupt, doing, err)
	}
	return fmt.Errorf("store: %s: %w", doing, err)
}

// File is the error of a file that cannot be read.
func File(err error) error {
	if FailedIO(err) {
		return fmt.Errorf("%w: %w", store.ErrIO, err)
	}
	return fmt.Errorf("store: %w", err)
}

func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "no space left on device")
}

// systemErrors are those that any other use of the same file would meet as well.
var systemErrors = []syscall.Errno{syscall.EIO, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.EBADF}

// FailedIO reports whether the system could not read or write a file. That is not corruption:
// the file may be as it was written.
func FailedIO(err error) bool {
	text := err.Error()
	return slices.ContainsFunc(systemErrors, func(e syscall.Errno) bool {
		return errors.Is(err, e) || strings.Contains(text, e.Error())
	})
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}
