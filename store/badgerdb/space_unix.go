//go:build unix

package badgerdb

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeBytes is what an ordinary user may still write to dir's file system.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// writable says why no file can be made in a directory.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// identityOf is what the file system says of a file.
func identityOf(file string) (identity, error) {
	var st unix.Stat_t
	if err := unix.Stat(file, &st); err != nil {
		return identity{}, &fs.PathError{Op: "stat", Path: file, Err: err}
	}
	return identity{size: st.Size, modified: st.Mtim.Nano(), changed: st.Ctim.Nano(), inode: uint64(st.Ino)}, nil
}

// allocated is how much of a file the disk holds.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}
