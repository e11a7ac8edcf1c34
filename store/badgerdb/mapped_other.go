//go:build !linux

package badgerdb

// mappedResident is not known here, so nothing is unmapped.
func mappedResident() (n int64, known bool) { return 0, false }

func mappings() []mapping { return nil }

func unmapPages(from, to uintptr) bool { return false }
