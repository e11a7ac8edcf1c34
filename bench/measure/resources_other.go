//go:build !linux

package measure

// Written is not known here.
func Written() int64 { return 0 }

// Resident is not known here.
func Resident() Memory { return Memory{} }
