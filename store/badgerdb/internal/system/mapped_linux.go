package system

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// MappedResident is how much of mapped files is in the process's resident memory.
func MappedResident() (n int64, known bool) {
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

// Mappings lists the mapped files of the process, none if the system does not tell.
func Mappings() []Mapping {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	return parseMappings(text)
}

// Unmap takes the pages of a mapped file out of the process's resident memory, and reports
// whether it did. What was written to them is in the system's cache and is not lost.
func (m Mapping) Unmap() bool {
	_, _, errno := unix.Syscall(unix.SYS_MADVISE, m.from, m.to-m.from, unix.MADV_DONTNEED)
	return errno == 0
}
