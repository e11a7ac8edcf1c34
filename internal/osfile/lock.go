package osfile

import "os"

// LockState is the result of trying to lock a file.
type LockState int

// The results of Lock.
const (
	Held    LockState = iota // by this process, until the file is closed or the process ends
	Taken                    // by another process, or through another opening of the file
	Unknown                  // the system or the file system has no locks
)

// IsTaken reports whether another process holds the lock of the file at path. It takes the
// lock for a moment to find out.
func IsTaken(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false // it does not exist, or this user may not see it
	}
	defer func() { _ = f.Close() }() // nothing was written
	return Lock(f) == Taken
}
