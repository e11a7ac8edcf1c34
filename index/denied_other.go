//go:build !unix

package index

import "os"

// denied reports whether this process may not read, or also not write, an existing file or directory. Only files that
// nobody may write are known here.
func denied(path string, write bool) bool {
	info, err := os.Stat(path)
	return write && err == nil && !info.IsDir() && info.Mode()&0o200 == 0
}
