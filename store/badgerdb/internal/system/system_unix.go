//go:build unix

package system

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Lock takes a lock on a directory: flock on the directory itself, as Badger does while
// it has one open. locked is false if another process has it.
func Lock(dir string) (release func() error, locked bool, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, false, fmt.Errorf("store: %w", err)
	}
	err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, false, d.Close()
	case err != nil:
		return nil, false, errors.Join(fmt.Errorf("store: lock %s: %w", dir, err), d.Close())
	}
	return d.Close, true, nil
}

// Map maps a file that is there, to be read and written.
func Map(file string, size int) (page []byte, unmap func() error, err error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	page, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, nil, err
	}
	return page, func() error { return unix.Munmap(page) }, nil
}

// BootID identifies the machine's current boot; it is "" where the system does not tell.
func BootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// FreeBytes is what an ordinary user may still write to dir's file system.
func FreeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// Writable returns the reason why no file can be made in a directory, or nil.
func Writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// Allocated is how much of a file the disk holds.
func Allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * 512
	}
	return info.Size()
}

// Identify returns the identity of a file.
func Identify(file string) (Identity, error) {
	var st unix.Stat_t
	if err := unix.Stat(file, &st); err != nil {
		return Identity{}, &fs.PathError{Op: "stat", Path: file, Err: err}
	}
	return Identity{Size: st.Size, Modified: st.Mtim.Nano(), Changed: st.Ctim.Nano(), Inode: uint64(st.Ino)}, nil
}
