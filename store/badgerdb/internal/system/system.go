// Package system does for a table what each operating system does in its own way: it locks
// directories, maps files, tells one file from another, and says how much room a disk has and
// what is in resident memory.
package system

// Identity holds the file system's facts about a file. It changes when the file is written
// or replaced. Facts that a system does not tell are 0.
type Identity struct {
	Size              int64 // in bytes
	Modified, Changed int64 // times, in nanoseconds since 1970
	Inode             uint64
}
