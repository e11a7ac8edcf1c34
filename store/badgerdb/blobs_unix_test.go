//go:build unix

package badgerdb

import (
	"os/signal"
	"syscall"
	"testing"
)

// TestRotateAfterFailure checks that a blob file that could not be made does not stand in the way
// of the next attempt. The collector makes files, too, and a failure there leaves the table in use.
func TestRotateAfterFailure(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	b, err := openBlobs(dir)
	if err != nil {
		t.Fatal(err)
	}
	restore := noWrites(t)
	err = b.rotate()
	restore()
	if err == nil {
		t.Fatal("a file was made although nothing could be written")
	}
	if err := b.rotate(); err != nil {
		t.Fatalf("after a failure: %v", err)
	}
	if err := b.append([]byte("value")); err != nil {
		t.Error(err)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}

// noWrites makes files that this process writes too large.
func noWrites(t *testing.T) (restore func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Error(err)
		}
	}
}
