package index

import (
	"errors"

	sqlite3 "modernc.org/sqlite/lib"
)

// Sentinels that callers tell apart, with errors.Is.
var (
	// ErrNoIndex: the directory holds no index yet.
	ErrNoIndex = errors.New("no index yet")
	// ErrLocked: another writer, in this or another process, has the index open.
	ErrLocked = errors.New("index already has a writer")
	// ErrForeign: a file stands where the index should be and is not one.
	ErrForeign = errors.New("not an index file")
	// ErrNewerFormat: the index was written by a newer version of the program.
	ErrNewerFormat = errors.New("index format is newer than this program")
	// ErrOldFormat: the index was written by an older version and no writer has
	// brought it up to date yet.
	ErrOldFormat = errors.New("index format is older than this program")
	// ErrClosed: the writer has been closed.
	ErrClosed = errors.New("index writer is closed")
	// ErrInvalid: a change that cannot be stored (no URL, a rank that is not a
	// finite number, …). Nothing of the call that carried it was applied.
	ErrInvalid = errors.New("invalid change")
	// ErrCorrupt: [View.Check] found the files damaged or in disagreement.
	ErrCorrupt = errors.New("index is damaged")
)

// UsageError says what is wrong with a query or its options, in words for the
// person who typed it.
type UsageError struct{ Reason string }

// Error is the reason, without a prefix.
func (e *UsageError) Error() string { return e.Reason }

// IsDamage reports whether an error means that the index files cannot be read as
// they are: what Check found, or what SQLite ran into.
func IsDamage(err error) bool {
	code := sqliteCode(err)
	return errors.Is(err, ErrCorrupt) || code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}
