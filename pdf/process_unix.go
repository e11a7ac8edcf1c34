//go:build unix && !linux

package pdf

import (
	"os/exec"
	"syscall"
	"time"
)

func limitProcess() error { return nil }

// detach keeps signals of a terminal from a child.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func processorTime(int) (time.Duration, bool) { return 0, false }
