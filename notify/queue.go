package notify

import (
	"container/heap"
	"sync"
	"time"

	"indexer/txn"
)

// queue is what the workers take rows from. It is a cache of the notify column:
// bounded, and filled again from the table after it overflowed.
//
// A row moves between three places: held (waiting for its time), ready, and
// running. A notification for a row that is held or ready is absorbed (message
// collapsing): the run to come begins later than the notification's commit, so
// it sees what the notification is about. One that arrives during a run brings
// the row back afterwards, unless the run's start timestamp already covers it.
type queue struct {
	registry *Registry
	capacity int

	mu       sync.Mutex
	changed  *sync.Cond // an entry became ready, the queue emptied, or closed
	entries  map[key]*entry
	ready    []readyHeap // for each observer
	held     heldHeap
	waiting  []int // ready or held entries of each observer
	busy     []int // running entries of each observer
	lastRun  []map[string]time.Time
	overflow bool
	closed   bool
	eager    bool // holds are ignored: deterministic mode
	timer    *time.Timer
}

func newQueue(r *Registry, capacity int) *queue {
	n := len(r.list)
	q := &queue{
		registry: r, capacity: capacity, entries: make(map[key]*entry),
		ready: make([]readyHeap, n), waiting: make([]int, n), busy: make([]int, n), lastRun: make([]map[string]time.Time, n),
	}
	q.changed = sync.NewCond(&q.mu)
	for i, o := range r.list {
		if o.Hold > 0 {
			q.lastRun[i] = make(map[string]time.Time)
		}
	}
	return q
}

// add hears of notifications. Those of observers that are not registered are
// returned.
func (q *queue) add(notes []txn.Notification) (unknown []txn.Notification) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for _, n := range notes {
		i, ok := q.registry.byName[n.Observer]
		if !ok || q.registry.list[i].Watches != n.Cell.Column {
			unknown = append(unknown, n)
			continue
		}
		q.addOne(key{i, n.Cell.Row}, n.TS, now)
	}
	q.changed.Broadcast()
	return unknown
}

func (q *queue) addOne(k key, ts uint64, now time.Time) {
	e, ok := q.entries[k]
	switch {
	case ok && e.place == running:
		if e.again == 0 {
			e.againFirst, e.againSince = ts, now
		}
		e.again = max(e.again, ts)
	case ok:
		e.newest = max(e.newest, ts)
	case len(q.entries) >= q.capacity:
		q.overflow = true
	default:
		e := &entry{key: k, oldest: ts, newest: ts, since: now}
		q.entries[k] = e
		q.waiting[k.observer]++
		q.enqueue(e, now)
	}
}

// enqueue makes an entry ready, or holds it for collapsing.
func (q *queue) enqueue(e *entry, now time.Time) {
	hold := q.registry.list[e.observer].Hold
	if hold == 0 || q.eager {
		q.makeReady(e)
		return
	}
	until := now.Add(hold / 5)
	if last, ok := q.lastRun[e.observer][e.row]; ok {
		until = last.Add(hold)
	}
	if !until.After(now) || q.upstreamIdle(e.observer) {
		q.makeReady(e)
		return
	}
	e.hold = true
	q.holdUntil(e, until)
}

func (q *queue) makeReady(e *entry) {
	e.place, e.hold = ready, false
	heap.Push(&q.ready[e.observer], e)
}

func (q *queue) holdUntil(e *entry, until time.Time) {
	e.place, e.until = held, until
	heap.Push(&q.held, e)
	if q.held[0] == e {
		q.setTimer()
	}
}

// setTimer arranges for release to be called when the first held entry is due.
func (q *queue) setTimer() {
	if len(q.held) == 0 || q.closed {
		return
	}
	d := max(time.Until(q.held[0].until), 0)
	if q.timer == nil {
		q.timer = time.AfterFunc(d, q.release)
		return
	}
	q.timer.Reset(d)
}

// release moves the entries that are due to the ready heaps.
func (q *queue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	now := time.Now()
	for len(q.held) > 0 && !q.held[0].until.After(now) {
		q.makeReady(heap.Pop(&q.held).(*entry))
	}
	q.setTimer()
	q.changed.Broadcast()
}

// upstreamIdle reports whether no observer before i has anything to do.
func (q *queue) upstreamIdle(i int) bool {
	for j := range i {
		if q.waiting[j] > 0 || q.busy[j] > 0 {
			return false
		}
	}
	return true
}

// releaseHeld frees the entries that were only held for collapsing, of
// observers whose upstream has become idle.
func (q *queue) releaseHeld() {
	idle := make([]bool, len(q.ready))
	any := false
	for i := range idle {
		idle[i] = q.lastRun[i] != nil && q.waiting[i] > 0 && q.upstreamIdle(i)
		any = any || idle[i]
	}
	if !any || len(q.held) == 0 {
		return
	}
	keep := q.held[:0]
	for _, e := range q.held {
		if e.hold && idle[e.observer] {
			q.makeReady(e)
			continue
		}
		keep = append(keep, e)
	}
	clear(q.held[len(keep):])
	q.held = keep
	for i, e := range q.held {
		e.pos = i
	}
	heap.Init(&q.held)
	q.setTimer()
}

// take removes the oldest ready entry, with further ones of the same observer
// up to its batch. nil means that nothing is ready.
func (q *queue) take() []*entry {
	best := -1
	for i := range q.ready {
		if len(q.ready[i]) > 0 && (best < 0 || q.ready[i][0].oldest < q.ready[best][0].oldest) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	var batch []*entry
	for len(batch) < q.registry.list[best].Batch && len(q.ready[best]) > 0 {
		if next := q.ready[best][0]; next.alone && len(batch) > 0 {
			break
		}
		e := heap.Pop(&q.ready[best]).(*entry)
		e.place = running
		q.waiting[best]--
		q.busy[best]++
		batch = append(batch, e)
		if e.alone {
			break
		}
	}
	return batch
}

// next waits for work. It returns nil once the queue is closed.
func (q *queue) next() []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed {
			return nil
		}
		if batch := q.take(); batch != nil {
			return batch
		}
		q.changed.Wait()
	}
}

// finished ends the committed run of an entry that began at start.
func (q *queue) finished(e *entry, start uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	q.busy[e.observer]--
	q.noteRun(e, now)
	if e.again > start {
		e.oldest, e.newest, e.since = e.againFirst, e.again, e.againSince
		e.again, e.attempts, e.failures, e.alone = 0, 0, 0, false
		q.waiting[e.observer]++
		q.enqueue(e, now)
	} else {
		delete(q.entries, e.key)
	}
	q.settled()
}

// noteRun remembers when rows of a holding observer were run. Times that hold
// nothing back any more are dropped when there are many.
func (q *queue) noteRun(e *entry, now time.Time) {
	runs := q.lastRun[e.observer]
	if runs == nil {
		return
	}
	runs[e.row] = now
	if len(runs) < 10_000 {
		return
	}
	hold := q.registry.list[e.observer].Hold
	for row, t := range runs {
		if now.Sub(t) > hold {
			delete(runs, row)
		}
	}
}

// requeue gives an entry back for another run, not before the delay is over.
func (q *queue) requeue(e *entry, delay time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy[e.observer]--
	q.waiting[e.observer]++
	if e.again > e.newest {
		e.newest = e.again
	}
	e.again = 0
	if delay <= 0 || q.eager {
		q.makeReady(e)
	} else {
		q.holdUntil(e, time.Now().Add(delay))
	}
	q.settled()
}

// settled is called with mu held whenever a run has ended.
func (q *queue) settled() {
	q.releaseHeld()
	q.changed.Broadcast()
}

// close makes next return nil.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	if q.timer != nil {
		q.timer.Stop()
	}
	q.changed.Broadcast()
}
