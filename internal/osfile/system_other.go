//go:build !unix

package osfile

import (
	"errors"
	"io/fs"
	"os"
)

// Lock locks nothing on this system.
func Lock(*os.File) LockState { return Unknown }

// copyMode keeps the permission bits that this system has.
func copyMode(f *os.File, old fs.FileInfo) error {
	if old == nil {
		return nil
	}
	return f.Chmod(old.Mode().Perm())
}

func duplicate(int, string) (*os.File, error) {
	return nil, errors.New("this system has no names for descriptors")
}

// SetUmask does nothing: on this system, files inherit their rights from directories.
func SetUmask(fs.FileMode) {}
