package cli

import (
	"reflect"
	"testing"
	"time"

	"indexer/crawler"
	"indexer/internal/config"
)

// TestPoliteness: no delay means no pause. Only --per-host lets a host have more than one
// request at a time, and nothing turns off Crawl-delay, or the turns of hosts that share
// an address.
func TestPoliteness(t *testing.T) {
	for _, c := range []struct {
		delay   time.Duration
		perHost int
		want    crawler.Politeness
	}{
		{time.Second, 1, crawler.Politeness{MinDelay: time.Second, PerHost: 1}},
		{0, 1, crawler.Politeness{MinDelay: -1, DelayFactor: -1, PerHost: 1}},
		{0, 8, crawler.Politeness{MinDelay: -1, DelayFactor: -1, PerHost: 8}},
		{2 * time.Second, 8, crawler.Politeness{MinDelay: 2 * time.Second, PerHost: 8}},
	} {
		f := flagsOf(config.Crawl{Delay: c.delay, PerHost: c.perHost, Concurrency: 32})
		if got := f.politeness(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("delay %v, %d per host: %+v, want %+v", c.delay, c.perHost, got, c.want)
		}
	}
}
