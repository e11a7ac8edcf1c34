//go:build !linux

package measure

// Written is not known here.
func Written() int64 { return 0 }

// resident is not known here.
func resident() Memory { return Memory{} }
