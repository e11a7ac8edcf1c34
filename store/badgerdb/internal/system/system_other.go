//go:build !unix

package system

import (
	"io/fs"
	"math"
	"os"
)

// Lock leaves it to Badger to keep other processes out.
func Lock(string) (release func() error, locked bool, err error) {
	return func() error { return nil }, true, nil
}

// Map maps nothing: the mark stays where it was when the table was opened.
func Map(_ string, size int) (page []byte, unmap func() error, err error) {
	return make([]byte, size), func() error { return nil }, nil
}

// BootID is not known.
func BootID() string { return "" }

// FreeBytes is not known here: the check always passes.
func FreeBytes(string) (int64, error) { return math.MaxInt64, nil }

// Allocated is not known here: a file's length stands for it.
func Allocated(info fs.FileInfo) int64 { return info.Size() }

// Writable leaves it to the system.
func Writable(string) error { return nil }

// Identify returns the identity of a file: here only its size and its time of modification.
func Identify(file string) (Identity, error) {
	info, err := os.Stat(file)
	if err != nil {
		return Identity{}, err
	}
	return Identity{Size: info.Size(), Modified: info.ModTime().UnixNano()}, nil
}
