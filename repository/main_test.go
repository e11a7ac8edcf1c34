package repository_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/killtest"
)

// TestMain also is the child process that the tests kill, confine and measure.
func TestMain(m *testing.M) {
	killtest.Main(map[string]func() error{"repository": childWork})
	goleak.VerifyTestMain(m)
}
