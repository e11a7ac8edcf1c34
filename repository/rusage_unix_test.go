//go:build unix

package repository_test

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// maxRSS returns the most memory a process that has ended ever had resident, in KiB.
func maxRSS(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss) >> 10 // bytes there
	}
	return int64(usage.Maxrss)
}

// processorTime returns the processor time that this process has used so far.
func processorTime(t testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
