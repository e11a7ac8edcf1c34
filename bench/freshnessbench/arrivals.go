package freshnessbench

import (
	"slices"
	"sync"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// arrivals measures the time from the moment at which a fetch was due until its page
// could be found. A page that is fetched again before that counts once, from the first
// fetch.
type arrivals struct {
	mu   sync.Mutex
	dues map[string]time.Time // by URL row
	took []time.Duration
}

func newArrivals() *arrivals { return &arrivals{dues: map[string]time.Time{}} }

// reset forgets everything.
func (a *arrivals) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.dues)
	a.took = nil
}

func (a *arrivals) due(u page.URL, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	row := schema.URLRow(u)
	if first, ok := a.dues[row]; !ok || at.Before(first) {
		a.dues[row] = at
	}
}

// searchable is called by the repository. It ignores pages that the benchmark does not wait
// for.
func (a *arrivals) searchable(row string, _, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if due, ok := a.dues[row]; ok {
		delete(a.dues, row)
		a.took = append(a.took, at.Sub(due))
	}
}

// taken are the times, sorted.
func (a *arrivals) taken() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(slices.Values(a.took))
}
