package cli

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
)

// TestHelpIsNotPrinted: help that cannot be written fails like any other result.
func TestHelpIsNotPrinted(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"help", "query"}, {"query", "--help"}, {}} {
		for err, want := range map[syscall.Errno]int{syscall.ENOSPC: statusNoSpace, syscall.EIO: statusFailed, syscall.EPIPE: statusDone} {
			var stderr bytes.Buffer
			got := run(t.Context(), args, strings.NewReader(""), failingWriter{err}, &stderr)
			if got != want || want != statusDone && !strings.Contains(stderr.String(), err.Error()) {
				t.Errorf("%q, and standard output fails with %v: status %d, want %d, %q", args, err, got, want, stderr.String())
			}
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
