//go:build unix

package system

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// FreeBytes is what an ordinary user may still write to dir's file system.
func FreeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// Writable says why no file can be made in a directory.
func Writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// Allocated is how much of a file the disk holds.
func Allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
