package frontier_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// TestClockSetBack: a visit planned by a clock that was ten years ahead is due once by
// the right clock; other visits are not.
func TestClockSetBack(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/")
	r.visit(r.due(host)[0], links("/wrong", "/right"))
	right := r.clock
	for _, j := range r.due(host) {
		if r.clock = right; j.URL == "https://a.example/wrong" {
			r.clock = right.AddDate(10, 0, 0)
		}
		r.visited(j, page.Fetch{URL: j.URL, Time: right.Add(time.Second), Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(links())})
	}
	r.clock = right.Add(time.Second)
	jobs := r.due(host)
	if got := urls(jobs); got != "a.example/wrong@1" {
		t.Fatalf("due: %s", got)
	}
	r.visit(jobs[0], links())
	if got := urls(r.due(host)); got != "" {
		t.Errorf("due again: %s", got)
	}
}
