//go:build unix

package index

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// denied reports whether this process may not read, or if write is set not write, an existing file
// or directory. It does not open a file, because closing it would drop the locks that connections of
// this process hold on it.
func denied(path string, write bool) bool {
	mode := uint32(unix.R_OK)
	if write {
		mode |= unix.W_OK
	}
	return errors.Is(unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS), fs.ErrPermission)
}
