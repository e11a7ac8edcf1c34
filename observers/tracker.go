package observers

import (
	"slices"
	"sync"
	"time"
)

// Tracker measures how long it takes from the commit of a fetch until the page
// is searchable: the paper's Figure 7, for the last pages.
type Tracker struct {
	mu      sync.Mutex
	loaded  map[string]time.Time // URL rows under way
	samples []time.Duration      // a ring
	next    int
	total   int64
}

const (
	trackedRows    = 50_000 // under way at most; pages that never get searchable stay until pushed out
	trackedSamples = 2_000
)

// NewTracker makes an empty tracker.
func NewTracker() *Tracker {
	return &Tracker{loaded: make(map[string]time.Time)}
}

// Loaded notes that a changed fetch of this URL row was committed just now.
func (t *Tracker) Loaded(row string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.loaded) >= trackedRows {
		clear(t.loaded)
	}
	if _, waiting := t.loaded[row]; !waiting {
		t.loaded[row] = time.Now()
	}
}

// searchable notes that the documents these URL rows belong to can be found.
func (t *Tracker) searchable(rows []string) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, row := range rows {
		at, ok := t.loaded[row]
		if !ok {
			continue
		}
		delete(t.loaded, row)
		t.total++
		if len(t.samples) < trackedSamples {
			t.samples = append(t.samples, now.Sub(at))
			continue
		}
		t.samples[t.next] = now.Sub(at)
		t.next = (t.next + 1) % trackedSamples
	}
}

// Latency is the distribution over the last pages.
type Latency struct {
	P50, P95, P99 time.Duration
	N             int64 // pages since the start, not only those in the distribution
}

// Latency computes the distribution.
func (t *Tracker) Latency() Latency {
	t.mu.Lock()
	sorted := slices.Clone(t.samples)
	l := Latency{N: t.total}
	t.mu.Unlock()
	if len(sorted) == 0 {
		return l
	}
	slices.Sort(sorted)
	at := func(p float64) time.Duration { return sorted[int(p*float64(len(sorted)-1))] }
	l.P50, l.P95, l.P99 = at(0.50), at(0.95), at(0.99)
	return l
}
