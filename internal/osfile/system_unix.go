//go:build unix

package osfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Lock locks a file without waiting (flock). The lock lasts until the file is closed.
func Lock(f *os.File) LockState {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return Held
	case errors.Is(err, syscall.EWOULDBLOCK):
		return Taken
	}
	return Unknown
}

// copyMode gives a file the mode of the file that it replaces, and its owner and group if
// this process may set them. If the group cannot be kept, the group bits of the mode would
// apply to a different group, so the group gets only the rights of others.
func copyMode(f *os.File, old fs.FileInfo) error {
	if old == nil {
		return nil
	}
	mode := old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		uid, gid := int(st.Uid), int(st.Gid)
		if os.Geteuid() != uid && f.Chown(uid, gid) != nil {
			mode &^= fs.ModeSetuid
		}
		if f.Chown(-1, gid) != nil {
			mode = mode&^(0o070|fs.ModeSetgid) | mode&0o007<<3
		}
	}
	return f.Chmod(mode)
}

// duplicate returns a new file for a descriptor, at the same position.
func duplicate(descriptor int, name string) (*os.File, error) {
	n, err := syscall.Dup(descriptor)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	syscall.CloseOnExec(n)
	return os.NewFile(uintptr(n), name), nil
}

// SetUmask sets the rights that are withheld from the files that this process creates from
// now on.
func SetUmask(mask fs.FileMode) { syscall.Umask(int(mask)) }
