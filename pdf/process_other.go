//go:build !unix

package pdf

import (
	"os/exec"
	"time"
)

func limitProcess() error { return nil }

func detach(*exec.Cmd) {}

func processorTime(int) (time.Duration, bool) { return 0, false }
