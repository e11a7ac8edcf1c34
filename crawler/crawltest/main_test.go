package crawltest

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/killtest"
)

// TestMain also runs as the child process that the tests kill.
func TestMain(m *testing.M) {
	killtest.Main(map[string]func() error{"crawl": childCrawl})
	goleak.VerifyTestMain(m)
}
