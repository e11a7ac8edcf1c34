//go:build !unix

package badgerdb

import "os"

// identityOf is what the file system says of a file: here only size and modification time.
func identityOf(file string) (identity, error) {
	info, err := os.Stat(file)
	if err != nil {
		return identity{}, err
	}
	return identity{size: info.Size(), modified: info.ModTime().UnixNano()}, nil
}
