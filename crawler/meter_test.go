package crawler

import (
	"fmt"
	"testing"

	"github.com/webindexer/indexer/crawler/fetch"
)

// TestMeterExchange: an exchange is a response or a failure, and never both.
func TestMeterExchange(t *testing.T) {
	m := newMeter()
	for _, x := range []exchange{
		{status: 200}, {status: 404}, {status: 404},
		{status: 200, class: fetch.TooLarge}, // the body was
		{status: 200, class: fetch.Reset}, {class: fetch.Reset},
	} {
		m.exchange(x)
	}
	const want = "6 requests, map[200:1 404:2], map[reset:2 too-large:1]"
	if got := fmt.Sprintf("%d requests, %v, %v", m.requests, m.statuses, m.failures); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
