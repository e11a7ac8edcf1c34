package control

import (
	"errors"
	"fmt"
)

var (
	// ErrNobody: no process answers for this data directory.
	ErrNobody = errors.New("no process answers for this data directory")
	// ErrSilent: the process that holds this data directory gives no sign of life. A
	// SilentError says more.
	ErrSilent = errors.New("the process that holds the data directory does not answer")
	// ErrServed: another process answers for this data directory already.
	ErrServed = errors.New("another process answers for this data directory")
	// ErrRefused is wrapped, with the reason, when the process that was asked does
	// not take the request: it is busy, or of another version.
	ErrRefused = errors.New("the process that holds the data directory refused")
	// ErrCutOff: the process that was asked ended before its answer did.
	ErrCutOff = errors.New("the process that holds the data directory ended before its answer did")
)

// SilentError is an ErrSilent with what is known of the process.
type SilentError struct {
	Process Process
}

// Error names the process.
func (e *SilentError) Error() string {
	text := fmt.Sprintf("%v: nothing was heard of it for %v", ErrSilent, patience)
	switch {
	case e.Process.ID == 0:
		return text
	case e.Process.Stopped:
		return fmt.Sprintf("%s; it is %v, which is stopped", text, e.Process)
	}
	return fmt.Sprintf("%s; it is %v", text, e.Process)
}

// Is makes it an ErrSilent.
func (e *SilentError) Is(target error) bool { return target == ErrSilent }

// Process is what the system tells of a process. Fields that are not known are zero.
type Process struct {
	ID      int
	Command string
	Stopped bool // by a signal, as with Ctrl-Z
}

func (p Process) String() string {
	if p.Command == "" {
		return fmt.Sprintf("process %d", p.ID)
	}
	return fmt.Sprintf("process %d (%s)", p.ID, p.Command)
}
