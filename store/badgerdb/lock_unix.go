//go:build unix

package badgerdb

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockDir takes the lock that Badger takes while it has a directory open: flock
// on the directory itself. locked is false if somebody has it.
func lockDir(dir string) (release func() error, locked bool, err error) {
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
