package osfile

import (
	"os"
	"runtime"
)

// ShortTempDir returns the directory for temporary files, or /tmp if the path of that directory
// is longer than max bytes: the path of a socket may have 103 bytes at most (macOS; Linux: 107).
func ShortTempDir(max int) string {
	if temp := os.TempDir(); runtime.GOOS == "windows" || len(temp) <= max {
		return temp
	}
	return "/tmp"
}
