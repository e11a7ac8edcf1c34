//go:build !unix

package index

import "os"

// denied reports whether this process may not read, or if write is set not write, an existing file
// or directory. On this system, it only knows files that nobody may write.
func denied(path string, write bool) bool {
	info, err := os.Stat(path)
	return write && err == nil && !info.IsDir() && info.Mode()&0o200 == 0
}
