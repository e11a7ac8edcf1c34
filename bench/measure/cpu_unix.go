//go:build unix

package measure

import (
	"syscall"
	"time"
)

// ProcessorTime is the processor time that this process has used, user and system.
func ProcessorTime() time.Duration { return usage(syscall.RUSAGE_SELF) }

// ChildrenTime is the processor time of the processes that this one has started and that have
// ended, and of theirs.
func ChildrenTime() time.Duration { return usage(syscall.RUSAGE_CHILDREN) }

func usage(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0 // cannot fail for these
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
