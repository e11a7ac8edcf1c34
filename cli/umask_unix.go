//go:build unix

package cli

import (
	"io/fs"
	"syscall"
)

func setUmask(mask fs.FileMode) { syscall.Umask(int(mask)) }
