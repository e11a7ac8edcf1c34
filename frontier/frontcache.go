package frontier

import (
	"sync"
	"time"
)

// heads remembers where the queues of new URLs begin.
//
// A visited URL leaves its row, deleted, in the store until a compaction drops it.
// New URLs are taken from the front of a queue, so after n visits a read that begins
// at the front passes n deleted rows first: reading a host's queue to the end would
// take time by the square of its length.
//
// A head is a hint. Rows may be added before it (a URL that is closer to a seed than
// those left), by transactions that this process hears of late or never. So
//
//  1. a read from the head counts only if it finds as many jobs as were asked for:
//     otherwise the queue is read from its front. Nothing is ever taken to be empty
//     because of a head.
//  2. a head is used for a limited time, in proportion to what reading from the front
//     took: a URL before the head waits no longer, and looking for it costs a small
//     part of the time.
//
// Rejected: keeping heads exact. A row's place is known before its transaction
// commits, and a read in between would move the head past it.
type frontCache struct {
	mu sync.Mutex
	of map[string]front // by host
}

type front struct {
	row   string
	until time.Time
}

const (
	frontWorth   = 5 * time.Millisecond // a shorter read needs no head
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

// found notes the first row of a queue after a read from its front.
func (h *frontCache) found(host, row string, now time.Time, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.of, host)
	if took < frontWorth || row == "" {
		return
	}
	if len(h.of) >= maxFronts || h.of == nil {
		h.of = make(map[string]front) // they come back with the next reads
	}
	h.of[host] = front{row, now.Add(min(frontFor*took, frontLongest))}
}

// moved notes that a queue that was read from its head begins later by now.
func (h *frontCache) moved(host, row string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e, ok := h.of[host]; ok && row > e.row {
		e.row = row
		h.of[host] = e
	}
}
