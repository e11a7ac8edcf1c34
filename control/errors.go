package control

import "errors"

var (
	// ErrNobody: no process answers for this data directory.
	ErrNobody = errors.New("no process answers for this data directory")
	// ErrServed: another process answers for this data directory already.
	ErrServed = errors.New("another process answers for this data directory")
	// ErrRefused is wrapped, with the reason, when the process that was asked does
	// not take the request: it is busy, or of another version.
	ErrRefused = errors.New("the process that holds the data directory refused")
	// ErrCutOff: the process that was asked ended before its answer did.
	ErrCutOff = errors.New("the process that holds the data directory ended before its answer did")
)
