package txn

import (
	"errors"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// Sentinel errors to test with errors.Is.
var (
	// ErrConflict means that another transaction wrote or locked a cell of this one, or
	// acknowledged its trigger. Nothing was written. Start again from Begin.
	ErrConflict = errors.New("txn: conflict")
	// ErrUnknown means that the outcome of the commit is unknown. A new transaction that reads
	// the cells can tell.
	ErrUnknown = errors.New("txn: outcome unknown")
	// ErrDone means that the transaction was committed or rolled back before.
	ErrDone = errors.New("txn: transaction has ended")
	// ErrClosed means that the DB is closed.
	ErrClosed = errors.New("txn: closed")
	// ErrNoTimestamps means that no oracle answered within the time that a caller waits.
	ErrNoTimestamps = errors.New("txn: no timestamps")
	// ErrDead means that other processes have found this one dead, for example because it was
	// stopped for a while. It can commit nothing more.
	ErrDead = errors.New("txn: other processes have found this one dead; start it again")
	// ErrMode means that the table cannot commit in the requested mode.
	ErrMode = errors.New("txn: wrong commit mode")
	// ErrBelowSafePoint means that versions of the requested time may have been collected
	// (gc.go).
	ErrBelowSafePoint = errors.New("txn: below the safe point")
)

// Temporary reports whether an error means that a server does not answer: the table's, or an
// oracle. A write that fills the disk also has an unknown outcome, but there is nothing to wait
// for.
func Temporary(err error) bool {
	return !store.Fatal(err) &&
		(errors.Is(err, store.ErrUnavailable) || errors.Is(err, ErrNoTimestamps) || errors.Is(err, ErrUnknown))
}

// ConflictError describes a conflict. It matches ErrConflict.
type ConflictError struct {
	Cell Cell
	// Reason is "written", "locked", "read for update", "acknowledged" or "rolled back";
	// or "awaited" if other transactions conflicted at the cell before, which only Run
	// reports.
	Reason string
	// By is the timestamp of the record that caused the conflict.
	By uint64
}

// Error names cell, reason and timestamp.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("txn: conflict: %s was %s at %d", e.Cell, e.Reason, e.By)
}

// Is makes it match ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }
