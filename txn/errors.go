package txn

import (
	"errors"
	"fmt"
)

// Sentinels to test with errors.Is.
var (
	// ErrConflict: another transaction wrote or locked a cell of this one, or
	// acknowledged its trigger. Nothing was written. Start again from Begin.
	ErrConflict = errors.New("txn: conflict")
	// ErrUnknown: nobody can say whether the transaction committed. Reading its
	// cells in a new transaction tells.
	ErrUnknown = errors.New("txn: outcome unknown")
	// ErrDone: the transaction was committed or rolled back before.
	ErrDone = errors.New("txn: transaction has ended")
	// ErrClosed: the DB was closed.
	ErrClosed = errors.New("txn: closed")
	// ErrBelowSafePoint: versions of the time that was asked for may have been
	// collected (gc.go).
	ErrBelowSafePoint = errors.New("txn: below the safe point")
)

// ConflictError tells what a transaction ran into. It matches ErrConflict.
type ConflictError struct {
	Cell Cell
	// Reason: "written", "locked", "read for update", "acknowledged" or "rolled back";
	// or "awaited", of others that met a conflict there before, which only Run meets.
	Reason string
	// By is the timestamp of the record that was in the way.
	By uint64
}

// Error names cell, reason and timestamp.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("txn: conflict: %s was %s at %d", e.Cell, e.Reason, e.By)
}

// Is makes it match ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }
