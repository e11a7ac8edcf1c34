//go:build !unix

package cli

import (
	"errors"
	"io/fs"
	"os"
)

func lockFile(*os.File) lockState { return lockUnknown }

// likeBefore keeps the permission bits that this system has.
func likeBefore(f *os.File, old fs.FileInfo) error {
	if old == nil {
		return nil
	}
	return f.Chmod(old.Mode().Perm())
}

func duplicate(int, string) (*os.File, error) {
	return nil, errors.New("this system has no names for descriptors")
}
