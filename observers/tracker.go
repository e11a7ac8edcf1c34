package observers

import (
	"maps"
	"slices"
	"sync"
	"time"

	"indexer/notify"
)

// Tracker measures how long it takes from the commit of a fetch until the page
// is searchable: the paper's Figure 7, for the last pages.
type Tracker struct {
	mu      sync.Mutex
	loaded  map[string]time.Time // URL rows under way
	samples []Found              // a ring
	next    int
	all     notify.Histogram
	watch   func(row string, loaded, searchable time.Time)
}

// Found is a page that can be found.
type Found struct {
	At   time.Time     `json:"at"`   // since when
	Took time.Duration `json:"took"` // from its load
}

const (
	trackedRows    = 50_000 // under way at most; pages that never get searchable stay until pushed out
	trackedSamples = 2_000
)

// NewTracker makes an empty tracker.
func NewTracker() *Tracker {
	return &Tracker{loaded: make(map[string]time.Time)}
}

// Watch calls fn with the URL row of each page that can be found from now on, and
// since when, in the goroutine that exported it. It is set before anything is loaded.
func (t *Tracker) Watch(fn func(row string, loaded, searchable time.Time)) { t.watch = fn }

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
	found := t.take(rows, now)
	if t.watch == nil {
		return
	}
	for row, loaded := range found {
		t.watch(row, loaded, now)
	}
}

// take ends the waiting of rows, and says since when those that did were loaded.
func (t *Tracker) take(rows []string, now time.Time) map[string]time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found map[string]time.Time
	for _, row := range rows {
		at, ok := t.loaded[row]
		if !ok {
			continue
		}
		delete(t.loaded, row)
		if found == nil {
			found = make(map[string]time.Time, len(rows))
		}
		found[row] = at
		t.keep(Found{now, now.Sub(at)})
	}
	return found
}

// keep puts a sample into the ring. It is called with mu held.
func (t *Tracker) keep(s Found) {
	t.all.Observe(s.Took)
	if len(t.samples) < trackedSamples {
		t.samples = append(t.samples, s)
		return
	}
	t.samples[t.next] = s
	t.next = (t.next + 1) % trackedSamples
}

// Latency is a distribution over pages.
type Latency struct {
	P50, P95, P99 time.Duration
	N             int64
}

// Latency computes the distribution over the last pages; N counts all since the start.
func (t *Tracker) Latency() Latency {
	l := t.Since(time.Time{})
	d := t.all.Distribution()
	l.N = d.N()
	return l
}

// All is the distribution over all pages since the start.
func (t *Tracker) All() notify.Distribution { return t.all.Distribution() }

// Settle forgets the pages that were loaded before a time at which observers had nothing
// left to do: redirects, duplicates and the like, which will never be found by themselves.
func (t *Tracker) Settle(before time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.loaded, func(_ string, loaded time.Time) bool { return loaded.Before(before) })
}

// Waiting is how many pages were loaded and cannot be found yet. It counts up to
// 50,000; those that will never be found are among them until Settle.
func (t *Tracker) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.loaded)
}

// Since computes the distribution over the pages that can be found since a time, of
// the last ones.
func (t *Tracker) Since(since time.Time) Latency { return LatencySince(t.Found(since), since) }

// Found lists the pages that can be found since a time, of the last ones, in that order.
func (t *Tracker) Found(since time.Time) []Found {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Found
	for i := range t.samples {
		if s := t.samples[(t.next+i)%len(t.samples)]; s.At.After(since) {
			list = append(list, s)
		}
	}
	return list
}

// LatencySince computes the distribution over those of a list that can be found since a
// time.
func LatencySince(list []Found, since time.Time) Latency {
	took := make([]time.Duration, 0, len(list))
	for _, f := range list {
		if f.At.After(since) {
			took = append(took, f.Took)
		}
	}
	l := Latency{N: int64(len(took))}
	if len(took) == 0 {
		return l
	}
	slices.Sort(took)
	at := func(p float64) time.Duration { return took[int(p*float64(len(took)-1))] }
	l.P50, l.P95, l.P99 = at(0.50), at(0.95), at(0.99)
	return l
}
