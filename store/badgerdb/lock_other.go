//go:build !unix

package badgerdb

// lockDir leaves it to Badger to keep other processes out.
func lockDir(string) (release func() error, locked bool, err error) {
	return func() error { return nil }, true, nil
}

// mapFile maps nothing: the mark stays where it was when the table was opened.
func mapFile(_ string, size int) (page []byte, unmap func() error, err error) {
	return make([]byte, size), func() error { return nil }, nil
}

// bootID is not known.
func bootID() string { return "" }
