package osfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// target is what a path refers to after following symbolic links.
type target struct {
	path         string
	info         fs.FileInfo // nil: the file does not exist yet
	descriptor   int         // of this process, if isDescriptor
	isDescriptor bool
}

// maxLinks bounds how many symbolic links are followed, like the limit of the kernel.
const maxLinks = 40

// findTarget follows symbolic links to the last path, which need not exist: writing through
// a dangling link creates the file that the link names.
func findTarget(path string) (target, error) {
	if strings.HasSuffix(path, string(filepath.Separator)) {
		return target{}, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	for range maxLinks {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return target{}, err
		}
		path = filepath.Join(dir, filepath.Base(path))
		if n, ok := ownDescriptor(dir, filepath.Base(path)); ok {
			info, err := os.Stat(path)
			return target{path: path, info: info, descriptor: n, isDescriptor: true}, err
		}
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return target{path: path}, nil
		case err != nil:
			return target{}, err
		case info.Mode()&fs.ModeSymlink == 0:
			return target{path: path, info: info}, nil
		}
		next, err := os.Readlink(path)
		if err != nil {
			return target{}, err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Join(dir, next)
		}
		path = next
	}
	return target{}, &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
}

// ownDescriptor reports whether a path names a descriptor of this process, as /dev/stdout
// and /dev/fd/3 do on Linux. Reopening such a path would start at the beginning of a file
// that the shell has open for appending; replacing the file would leave the shell with the
// old one.
func ownDescriptor(dir, name string) (int, bool) {
	if dir != "/proc/"+strconv.Itoa(os.Getpid())+"/fd" {
		return 0, false
	}
	n, err := strconv.Atoi(name)
	return n, err == nil && n >= 0
}
