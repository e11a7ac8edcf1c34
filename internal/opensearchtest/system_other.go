//go:build !linux

package opensearchtest

import (
	"os"
	"syscall"
)

const nobody = 65534

func attributes() *syscall.SysProcAttr { return nil }

func kill(p *os.Process) { _ = p.Kill() } // it may have ended
