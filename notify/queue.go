package notify

import (
	"container/heap"
	"sync"
	"time"

	"indexer/txn"
)

// queue is what the workers take rows from. It is a cache of the notify column:
// bounded, and filled again from the table after it overflowed. Nothing here is
// ever written down; a crash loses all of it, and the scan at the next start
// finds it again.
//
// # Invariants
//
//  1. Whoever adds a notification n for an observer and a row finds afterwards,
//     until a run that began above n has committed (or the row went to the dead
//     letters): an entry that will be run and begins later than now; or a run
//     under way whose entry has again >= n; or overflow set.
//  2. An entry is in exactly one place: in its ready heap, in the delayed heap, or in
//     the hands of one worker, which gives it back by exactly one of finished and
//     requeue, whatever happens (fluo#839: tracked for ever).
//  3. newest does not change during a run; again does. So a worker reads newest
//     without the lock, and what it answered is what it saw when it took the row.
//  4. finished drops an entry only if again <= covered, or overflow is set and the
//     run did not ask to go on. covered
//     is the start timestamp of a committed run, and a run sees every commit below
//     it; or what an earlier run had acknowledged; or what went to the dead letters.
//  5. Of each observer, waiting counts the entries ready or delayed, busy those
//     running, and open those that are open. Together they are all entries, and these are at most capacity.
//  6. An entry that becomes ready wakes a worker; the end of a run, and whatever
//     else can make a watcher's condition true, calls settled.
//
// # Why a notification for a waiting row is absorbed
//
// (Message collapsing.) The run to come takes its start timestamp later than now,
// and now is later than the notification's commit: so it sees what the
// notification is about. That does not hold for a row in a worker's hands: the
// run may have begun already, or not. Only its start timestamp tells, so the
// notification is kept in again until the run ends.
type queue struct {
	registry *Registry
	capacity int
	eager    bool // debounces and delays are ignored: deterministic mode

	mu       sync.Mutex
	work     *sync.Cond // an entry became ready, or the queue was closed
	entries  map[key]*entry
	ready    []readyHeap // for each observer
	delayed  delayedHeap
	waiting  []int        // ready or delayed entries of each observer
	busy     []int        // running entries of each observer
	open     []int        // entries of each observer in mid-continuation (limits.go)
	opening  []int        // batches under way that may add to these
	lastRuns []recentRuns // of each observer
	idleness
	overflow bool   // there may be notifications that are in the table only
	working  []bool // the workers there are, by number (workers.go)
	wanted   int    // how many there should be
	closed   bool
	stopped  chan struct{} // closed with the queue
	alarm    chan struct{} // holds a token when keepTime has to look again
	watchers map[*watcher]struct{}
}

func newQueue(r *Registry, capacity int) *queue {
	n := len(r.list)
	q := &queue{
		registry: r, capacity: capacity, entries: make(map[key]*entry),
		ready: make([]readyHeap, n), waiting: make([]int, n), busy: make([]int, n), open: make([]int, n), opening: make([]int, n), lastRuns: make([]recentRuns, n),
		idleness: idleness{inactiveSince: make([]time.Time, n), debounced: make([]int, n)},
		stopped:  make(chan struct{}), alarm: make(chan struct{}, 1), watchers: make(map[*watcher]struct{}),
	}
	q.work = sync.NewCond(&q.mu)
	return q
}

// add hears of notifications; found says that they come from the table and not
// from the commit that sent them. Those of observers that are not registered are
// returned, and whether some did not fit, with the row of the first of these.
func (q *queue) add(notes []txn.Notification, found bool) (unknown []txn.Notification, full bool, row string) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, n := range notes {
		i, ok := q.registry.byName[n.Observer]
		if !ok || q.registry.list[i].Watches != n.Cell.Column {
			unknown = append(unknown, n)
			continue
		}
		if !q.addOne(key{i, n.Cell.Row}, n, now, found) && !full {
			q.overflow, full, row = true, true, n.Cell.Row
		}
	}
	return unknown, full, row
}

// addOne reports whether there was room.
func (q *queue) addOne(k key, n txn.Notification, now time.Time, found bool) bool {
	e, ok := q.entries[k]
	switch {
	case !ok && len(q.entries) >= q.capacity:
		return false
	case !ok:
		e = &entry{key: k, oldest: n.TS, newest: n.TS, since: now, doubtful: found}
		q.entries[k] = e
		q.waiting[k.observer]++
		q.upstreamBusy(k.observer)
		if n.Continues {
			q.setOpen(e, true)
			q.makeReady(e)
		} else {
			q.enqueue(e, now)
		}
	case e.place != running:
		e.newest = max(e.newest, n.TS)
		if n.Continues {
			q.openWaiting(e)
		}
	default:
		if e.again == 0 {
			e.againFirst, e.againSince = n.TS, now
		}
		e.again = max(e.again, n.TS)
		e.continues = e.continues || n.Continues
	}
	return true
}

func (q *queue) makeReady(e *entry) {
	if e.debounced {
		q.debounced[e.observer]--
		q.upstreamBusy(e.observer)
		// Its turn begins now. By its age it would come before what upstream has to
		// do, which would notify it again.
		e.oldest = e.newest
	}
	e.place, e.debounced, e.readySince = ready, false, time.Now()
	heap.Push(&q.ready[e.observer], e)
	q.work.Signal()
}

// take removes the oldest ready entry that may be run, with further ones of the
// same observer up to its batch. nil means that there is none.
func (q *queue) take() []*entry {
	best := -1
	for i := range q.ready {
		if len(q.ready[i]) > 0 && q.mayRun(q.ready[i][0]) && (best < 0 || q.ready[i][0].oldest < q.ready[best][0].oldest) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	first := q.hand(best, 0)
	batch := append(make([]*entry, 0, min(q.registry.list[best].Batch, 1+len(q.ready[best]))), first)
	for len(batch) < cap(batch) && !first.alone {
		if next := q.ready[best][0]; next.alone || next.open != first.open {
			break
		}
		batch = append(batch, q.hand(best, 0))
	}
	q.opens(first)
	return batch
}

// hand takes the entry at a position of a ready heap into a worker's hands.
func (q *queue) hand(observer, pos int) *entry {
	e := heap.Remove(&q.ready[observer], pos).(*entry)
	e.place = running
	q.waiting[observer]--
	q.busy[observer]++
	return e
}

// next waits for work for a worker. It returns nil once the queue is closed or
// there are too many workers.
func (q *queue) next(worker int) []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if q.closed || worker >= q.wanted {
			q.working[worker] = false
			return nil
		}
		if batch := q.take(); batch != nil {
			q.tellWatchers() // the oldest row may have been among them
			return batch
		}
		q.work.Wait()
	}
}

// finished ends the run of entries that were answered up to their covered. After
// an overflow, those that were notified again meanwhile stay in the table like
// others that are there already: rows that are notified without end would
// otherwise keep them out for ever. After a run of unknown outcome the table is
// scanned again, and not before the row is through: only by then has it become
// known whether the run committed.
func (q *queue) finished(batch []*entry) {
	now, unknown := time.Now(), false
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range batch {
		q.busy[e.observer]--
		q.ranOnce(e)
		q.noteRun(e, now)
		unknown = unknown || e.unknown
		open := e.continues && e.again > e.covered
		q.setOpen(e, open)
		if e.again <= e.covered || q.overflow && !open {
			delete(q.entries, e.key)
			continue
		}
		e.oldest, e.newest, e.since = e.againFirst, e.again, e.againSince
		e.again, e.attempts, e.failures, e.alone, e.unknown, e.continues = 0, 0, 0, false, false, false
		q.waiting[e.observer]++
		if open {
			q.makeReady(e)
		} else {
			q.enqueue(e, now)
		}
	}
	q.overflow = q.overflow || unknown
	q.settled()
}

// requeue gives entries back for another run, none before its delay is over.
func (q *queue) requeue(batch []*entry, delay func(*entry) time.Duration) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range batch {
		q.busy[e.observer]--
		q.ranOnce(e)
		q.waiting[e.observer]++
		e.newest = max(e.newest, e.again)
		e.again, e.doubtful, e.continues = 0, true, false
		if d := delay(e); d > 0 && !q.eager {
			q.delayUntil(e, now.Add(d))
		} else {
			q.makeReady(e)
		}
	}
	q.settled()
}

// settled is called with mu held whenever runs have ended.
func (q *queue) settled() {
	q.wakeLimited()
	if q.releaseDebounced(time.Now()) > 0 {
		q.ring()
	}
	q.tellWatchers()
}

// close makes next return nil, and ends all waiting.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	close(q.stopped)
	q.work.Broadcast()
	q.tellWatchers()
}
