//go:build unix

package system

import (
	"errors"
	"fmt"
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
