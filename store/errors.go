package store

import "errors"

// Errors to test with errors.Is. Engines wrap them, and add what failed, and where.
var (
	// ErrClosed means that the table was closed.
	ErrClosed = errors.New("store: table is closed")
	// ErrTooLarge means that one of the Limits was exceeded; nothing was changed.
	ErrTooLarge = errors.New("store: larger than the table's limit")
	// ErrUnknownGroup means that the table was not opened with this locality group.
	ErrUnknownGroup = errors.New("store: unknown locality group")
	// ErrInUse means that another process holds the directory.
	ErrInUse = errors.New("store: data directory is in use by another process")
	// ErrForeign means that the directory or the database holds something that is not such a
	// table, or one of another application.
	ErrForeign = errors.New("store: something else is stored there")
	// ErrNewerFormat means that a newer version wrote the directory or the database.
	ErrNewerFormat = errors.New("store: written by a newer version")
	// ErrCorrupt means that stored bytes are not those that were written.
	ErrCorrupt = errors.New("store: corrupt data")
	// ErrNotDone settles an Unknown outcome: nothing happened, and nothing will. The write was
	// rejected before it began (no space, the context ended while it was queued, no commit
	// timestamp).
	ErrNotDone = errors.New("store: nothing was changed")
	// ErrBroken means that a write failed half-way; the table takes no more of them until it is
	// opened again.
	ErrBroken = errors.New("store: a write has failed, open the table again")
	// ErrNoSpace means that the disk is full.
	ErrNoSpace = errors.New("store: no space left")
	// ErrUnavailable means that the server of the table did not answer, or rejected the call
	// for now. The same call may succeed later.
	ErrUnavailable = errors.New("store: the server does not answer")
	// ErrUnwritable means that the table's directory was removed, or made read-only, while the
	// table was open.
	ErrUnwritable = errors.New("store: the directory can no longer be written")
	// ErrIO means that the system cannot read or write a file of the table. The disk fails, or
	// its file system is read-only, or the process may open no more files.
	ErrIO = errors.New("store: the system cannot read or write a file")
)

// Fatal reports whether every later call would fail with the same error until an operator
// makes room, repairs the table, or opens it again. It says nothing about the outcome: a write
// that finds the disk full may or may not have happened.
func Fatal(err error) bool {
	for _, e := range []error{ErrBroken, ErrNoSpace, ErrUnwritable, ErrIO, ErrCorrupt, ErrClosed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// SettingError says that the name of a table, such as a URL, is not valid. Nothing was opened.
type SettingError struct {
	Err error
}

// Error is the text of the reason.
func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *SettingError) Unwrap() error { return e.Err }
