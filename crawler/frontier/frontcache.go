package frontier

import (
	"sync"
	"time"
)

// frontCache remembers where the queues of new URLs begin.
//
// A visited URL leaves its deleted row in the store until a compaction drops it. New
// URLs are taken from the front of a queue, so after n visits a read that starts at the
// front passes n deleted rows first: reading a host's queue to the end would take time
// quadratic in its length.
//
// A cached front is a hint. Transactions may add rows before it (a URL that is closer
// to a seed than the remaining ones), and this process hears of them late or never. So
//
//  1. A read from the cached front counts only if it finds as many jobs as were asked
//     for; otherwise the queue is read from its real front. A cached front never makes
//     a queue look empty.
//  2. A cached front is used for a limited time, in proportion to how long the read
//     from the real front took: a URL before it waits no longer than that, and looking
//     for it costs a small part of the time.
//
// Rejected: keeping fronts exact. A row's place is known before its transaction
// commits, and a read in between would move the front past it.
type frontCache struct {
	mu sync.Mutex
	of map[string]front // by host
}

type front struct {
	row   string
	until time.Time
}

const (
	frontWorth   = 5 * time.Millisecond // a shorter read needs no cache
	frontFor     = 20                   // times as long as the read from the front took
	frontLongest = 10 * time.Second
	maxFronts    = 1024
)

// get returns the row to read from, "" for the front.
func (h *frontCache) get(host string, now time.Time) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e, ok := h.of[host]; ok && now.Before(e.until) {
		return e.row
	}
	return ""
}

// found stores the first row of a queue after a read from its real front.
func (h *frontCache) found(host, row string, now time.Time, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.of, host)
	if took < frontWorth || row == "" {
		return
	}
	if len(h.of) >= maxFronts || h.of == nil {
		h.of = make(map[string]front) // the next reads fill it again
	}
	h.of[host] = front{row, now.Add(min(frontFor*took, frontLongest))}
}

// drop forgets a front.
func (h *frontCache) drop(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.of, host)
}

// moved notes that a queue that was read from its cached front now begins later.
func (h *frontCache) moved(host, row string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e, ok := h.of[host]; ok && row > e.row {
		e.row = row
		h.of[host] = e
	}
}
