package pdf

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// maxData is how much memory a child may write to: PDFium's, and that of the compiler.
const maxData = 1536 << 20

// limitProcess bounds the memory of this process, and keeps it from writing files.
func limitProcess() error {
	for resource, limit := range map[int]uint64{syscall.RLIMIT_DATA: maxData, syscall.RLIMIT_FSIZE: 0, syscall.RLIMIT_CORE: 0} {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit the process: %w", err)
		}
	}
	return nil
}

// detach keeps signals of a terminal from a child, and has it killed if this process is.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// processorTime returns how much a process has used so far.
func processorTime(pid int) (time.Duration, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name of the program comes second, in parentheses, and may contain anything.
	const user, system = 11, 12 // after it
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= system {
		return 0, false
	}
	var ticks int64
	for _, f := range [][]byte{fields[user], fields[system]} {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, false
		}
		ticks += n
	}
	const perSecond = 100 // for programs, on all architectures
	return time.Duration(ticks) * time.Second / perSecond, true
}
