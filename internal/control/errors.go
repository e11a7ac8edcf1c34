package control

import (
	"errors"
	"fmt"
)

var (
	// ErrNobody says that no process serves this data directory.
	ErrNobody = errors.New("no process answers for this data directory")
	// ErrSilent says that the process that holds this data directory sends no heartbeat. A
	// SilentError has the details.
	ErrSilent = errors.New("the process that holds the data directory does not answer")
	// ErrServed says that another process already serves this data directory.
	ErrServed = errors.New("another process answers for this data directory")
	// ErrRefused is wrapped, with the reason, when the process that holds the data directory
	// does not accept the request: it is busy (then it is also ErrBusy), or has a different version.
	ErrRefused = errors.New("the process that holds the data directory refused the request")
	// ErrBusy is an ErrRefused: the process is answering as many requests as it does at a time.
	ErrBusy = fmt.Errorf("%w: it is already answering %d requests", ErrRefused, maxRequests)
	// ErrCutOff says that the process ended before its answer was complete.
	ErrCutOff = errors.New("the process that holds the data directory ended before its answer was complete")
)

// SilentError is an ErrSilent with what is known about the process.
type SilentError struct {
	Process Process
}

// Error names the process.
func (e *SilentError) Error() string {
	text := fmt.Sprintf("%v: it has sent nothing for %v", ErrSilent, silenceLimit)
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

// Process is what the operating system tells about a process. Unknown fields are zero.
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
