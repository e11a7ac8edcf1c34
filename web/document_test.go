package web

import (
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/frontier"
)

// The time between visits is written as people write it.
func TestWait(t *testing.T) {
	p := documentPage{Details: &Details{Crawl: new(frontier.Inspection)}}
	p.Crawl.Interval = 24 * time.Hour
	if got := p.Wait(); got != "24 hours" {
		t.Errorf("every %s, want every 24 hours", got)
	}
}
