package crawltest

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also is the child process that the tests kill.
func TestMain(m *testing.M) {
	if os.Getenv(childDir) != "" {
		os.Exit(runChild())
	}
	goleak.VerifyTestMain(m)
}
