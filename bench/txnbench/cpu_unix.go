//go:build unix

package txnbench

import (
	"syscall"
	"time"
)

// cpuTime is what this process has used of the processors so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // told as "not known"
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
