package observers

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/webindexer/indexer/notify"
)

// Tracker measures, for the last pages, how long it takes from the commit of a fetch
// until the page can be found (Figure 7 of the Percolator paper).
type Tracker struct {
	mu      sync.Mutex
	loaded  map[string]time.Time // URL rows that wait, and since when
	samples []Found              // a ring; next is the oldest once it is full
	next    int
	all     notify.Histogram

	unreadable unreadable
	watch      func(row string, loaded, searchable time.Time)
}

// Found is a page that can be found.
type Found struct {
	At   time.Time     `json:"at"`   // since when it can be found
	Took time.Duration `json:"took"` // since it was loaded
}

const (
	trackedRows    = 50_000 // pages that wait; if there are more, all are forgotten
	trackedSamples = 2_000
)

// NewTracker returns an empty tracker.
func NewTracker() *Tracker {
	return &Tracker{loaded: make(map[string]time.Time)}
}

// Watch makes the Tracker call fn for each page that can be found from then on, in the
// goroutine that exported it. Call Watch before anything is loaded.
func (t *Tracker) Watch(fn func(row string, loaded, searchable time.Time)) { t.watch = fn }

// Loaded notes that a changed fetch of this URL row has just been committed.
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

// searchable notes that the pages with these URL rows can be found.
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

// take removes rows that wait, and returns when they were loaded.
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

// keep puts a sample into the ring. The caller holds mu.
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

// All returns the distribution over all pages since the start.
func (t *Tracker) All() notify.Distribution { return t.all.Distribution() }

// Expected returns the distribution over the last pages as it will be once all waiting pages
// have been found, if no more are loaded; N counts the pages found since the start. While a
// backlog grows, the pages found so far are the fast ones, so their distribution alone
// promises too much.
//
// The estimate assumes that pages become searchable in the order in which they were
// loaded, at the pace since the oldest waiting page was loaded, because there has been
// work all that time. If none has become searchable since, the pace is unknown, and a
// waiting page counts as found now.
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

// underWay returns when the waiting pages were loaded, ascending, and the last pages found.
func (t *Tracker) underWay() (waiting []time.Time, found []Found) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, loaded := range t.loaded {
		waiting = append(waiting, loaded)
	}
	slices.SortFunc(waiting, time.Time.Compare)
	return waiting, t.last(time.Time{})
}

// pace returns the time between two pages found since the oldest waiting page was loaded, as
// far back as the samples reach, or 0 if none was found.
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

// dismiss forgets a URL that will not be found: it is not a page, or may not be shown.
func (t *Tracker) dismiss(row string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.loaded, row)
}

// ForgetBefore forgets the pages that were loaded before a time at which the observers were
// idle. They will not be found, for example because an observer has given up on them.
func (t *Tracker) ForgetBefore(before time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.loaded, func(_ string, loaded time.Time) bool { return loaded.Before(before) })
}

// Waiting returns how many loaded pages cannot be found yet, up to 50,000. It includes
// pages that will never be found until ForgetBefore forgets them.
func (t *Tracker) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.loaded)
}

// Since returns the distribution over the last pages that were found after a time.
func (t *Tracker) Since(since time.Time) Latency { return LatencySince(t.Found(since), since) }

// Found lists the last pages that were found after a time, in that order.
func (t *Tracker) Found(since time.Time) []Found {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last(since)
}

// last does what Found does. The caller holds mu.
func (t *Tracker) last(since time.Time) (list []Found) {
	for i := range t.samples {
		if s := t.samples[(t.next+i)%len(t.samples)]; s.At.After(since) {
			list = append(list, s)
		}
	}
	return list
}

// LatencySince returns the distribution over the pages of a list that were found after a
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
