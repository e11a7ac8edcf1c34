package badgerdb

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mappedResident is how much of mapped files is in the process's resident memory.
func mappedResident() (n int64, known bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	var size, resident, shared int64 // in pages
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		return 0, false
	}
	return shared * int64(os.Getpagesize()), true
}

// mappings lists the mapped files of the process, none if the system does not tell.
func mappings() []mapping {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	return parseMappings(text)
}

// unmapPages takes pages of a mapped file out of the process's resident memory. What was
// written to them is in the system's cache and is not lost.
func unmapPages(from, to uintptr) bool {
	_, _, errno := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
	return errno == 0
}
