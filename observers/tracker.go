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
	l.N = t.found()
	return l
}

// All is the distribution over all pages since the start.
func (t *Tracker) All() notify.Distribution { return t.all.Distribution() }

// Expected is what Latency will say once all that wait are found, if nothing more is
// loaded: with nothing waiting the two are the same. Pages found so far are the fast ones
// of those that were loaded, so their distribution alone promises too much while a backlog
// grows.
//
// Pages are expected to be found in the order in which they were loaded, as fast one
// after another as they have been since the oldest of those that wait was loaded: all that
// time there was work. If none was found since then, nobody knows how fast; a page that
// waits then counts as found now.
func (t *Tracker) Expected() Latency {
	now := time.Now()
	waiting, found := t.underWay()
	list := make([]Found, 0, len(found)+len(waiting))
	list = append(list, found...)
	each := pace(found, waiting, now)
	for i, loaded := range waiting {
		at := now.Add(time.Duration(float64(i+1) * float64(each)))
		list = append(list, Found{at, at.Sub(loaded)})
	}
	l := LatencySince(list[max(len(list)-trackedSamples, 0):], time.Time{})
	l.N = t.found()
	return l
}

// underWay is when the pages that wait were loaded, ascending, and the last ones found.
func (t *Tracker) underWay() (waiting []time.Time, found []Found) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, loaded := range t.loaded {
		waiting = append(waiting, loaded)
	}
	slices.SortFunc(waiting, time.Time.Compare)
	for i := range t.samples {
		found = append(found, t.samples[(t.next+i)%len(t.samples)])
	}
	return waiting, found
}

// pace is the time from one page found to the next since the oldest that waits was
// loaded, as far as the samples reach; 0 if there were none.
func pace(found []Found, waiting []time.Time, now time.Time) time.Duration {
	if len(found) == 0 || len(waiting) == 0 {
		return 0
	}
	since := waiting[0]
	if len(found) == trackedSamples && found[0].At.After(since) {
		since = found[0].At
	}
	n := 0
	for _, f := range found {
		if f.At.After(since) {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return now.Sub(since) / time.Duration(n)
}

func (t *Tracker) found() int64 {
	d := t.all.Distribution()
	return d.N()
}

// dismiss forgets a URL that will not be found: it is no page, or one that may not be shown.
func (t *Tracker) dismiss(row string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.loaded, row)
}

// Settle forgets the pages that were loaded before a time at which observers had nothing
// left to do: those on which an observer gave up, and the like.
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
