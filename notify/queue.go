package notify

import (
	"container/heap"
	"container/list"
	"sync"
	"time"

	"github.com/webindexer/indexer/txn"
)

// queue holds the rows that workers take. It is a bounded cache of the notify column,
// and is filled again from the table after an overflow. It is never written to the
// table; a crash loses all of it, and the scan at the next start finds it again.
//
// # Invariants
//
//  1. After a notification n for an observer and a row was added, one of these holds,
//     until a run that began above n has committed (or the row became a dead
//     letter): there is an entry that will be run and begins later than now; or a
//     current run whose entry has again >= n; or overflow is set.
//  2. An entry is in exactly one place: in its ready heap, in its delayed heap, or with
//     one worker, which returns it by exactly one of finished and
//     requeue, whatever happens (fluo#839: tracked for ever).
//  3. newest does not change during a run; again does. So a worker reads newest
//     without the lock, and handles what it saw when it took the row.
//  4. finished drops an entry only if again <= covered, or if overflow is set and the run
//     did not ask to continue. covered is the start timestamp of a committed run, which
//     sees every commit below it; or the acknowledgement of an earlier run; or the newest
//     notification of a dead letter.
//  5. For each observer, waiting counts the entries that are ready or delayed, busy the
//     running ones, and open the open ones. Ready, delayed and running entries are all
//     entries, and there are at most capacity.
//  6. An entry that becomes ready wakes a worker, or, while it lingers, makes runTimer wake one
//     at the end (linger.go). The end of a run calls runsEnded, which tells the watchers too.
//
// # Why a notification for a waiting row is absorbed
//
// (This is message collapsing.) The coming run takes its start timestamp later than now,
// and now is later than the notification's commit, so the run sees the change. That does
// not hold for a running row: its run may have begun already. Only its start timestamp
// tells, so again keeps the notification until the run ends.
type queue struct {
	registry *Registry
	capacity int
	eager    bool // debounces and delays are ignored: deterministic mode

	mu       sync.Mutex
	work     *sync.Cond // an entry became ready, or the queue was closed
	entries  map[key]*entry
	ready    []readyHeap   // for each observer
	delayed  []delayedHeap // for each observer
	waiting  []int         // ready or delayed entries of each observer
	busy     []int         // running entries of each observer
	open     []int         // entries of each observer in mid-continuation (limits.go)
	opening  []int         // batches under way that may add to these
	lastRuns []recentRuns  // of each observer
	bursts   []burst       // of each observer
	handled  []int64       // rows on which each observer has run
	spare    []list.List   // of each observer: entries for spare time (spare.go)
	loaders  int           // loaders at work
	lingerTo time.Time     // when runTimer looks for rows that no longer linger; zero if it does not
	idleness
	overflow  bool   // there may be notifications that are in the table only
	working   []bool // the workers there are, by number (workers.go)
	wanted    int    // how many workers there should be
	closed    bool
	stopped   chan struct{} // closed with the queue
	timerWake chan struct{} // holds a token when runTimer has to look again
	watchers  map[*watcher]struct{}
}

func newQueue(r *Registry, capacity int) *queue {
	n := len(r.list)
	q := &queue{
		registry: r, capacity: capacity, entries: make(map[key]*entry),
		ready: make([]readyHeap, n), delayed: make([]delayedHeap, n), spare: make([]list.List, n),
		waiting: make([]int, n), busy: make([]int, n), open: make([]int, n), opening: make([]int, n),
		lastRuns: make([]recentRuns, n), bursts: make([]burst, n), handled: make([]int64, n),
		idleness: idleness{inactiveSince: make([]time.Time, n), debounced: make([]int, n)},
		stopped:  make(chan struct{}), timerWake: make(chan struct{}, 1), watchers: make(map[*watcher]struct{}),
	}
	q.work = sync.NewCond(&q.mu)
	return q
}

// add adds notifications; found says that they come from a scan of the table and not
// from the commit that sent them. It returns notifications of unregistered observers,
// and whether some did not fit, with the row of the first that did not.
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
		e = &entry{key: k, oldest: n.TS, newest: n.TS, since: now, doubtful: found, urgent: !n.Deferrable}
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
		if !n.Deferrable {
			e.urgent = true
			q.forSpareTime(e)
		}
		if n.Continues {
			q.openWaiting(e)
		}
	default:
		if e.again == 0 {
			e.againFirst, e.againSince = n.TS, now
		}
		e.again = max(e.again, n.TS)
		e.againUrgent = e.againUrgent || !n.Deferrable
		e.continues = e.continues || n.Continues
	}
	return true
}

func (q *queue) makeReady(e *entry) {
	if e.debounced {
		q.burstBegins(e.observer)
		q.debounced[e.observer]--
		q.upstreamBusy(e.observer)
		// Its last notification decides its turn. By the first one it would run before
		// the work of upstream, which would notify it again.
		e.oldest = e.newest
	}
	if e.spare != nil {
		q.spare[e.observer].Remove(e.spare)
		e.spare = nil
	}
	now := time.Now()
	e.place, e.debounced, e.readySince = ready, false, now
	heap.Push(&q.ready[e.observer], e)
	if !q.lingers(e.observer, now) {
		q.work.Signal()
	}
}

// take removes the oldest ready entry that may be run, and further entries of the
// same observer up to its batch. nil means that there is none.
func (q *queue) take() []*entry {
	best, now := -1, time.Now()
	for i := range q.ready {
		if len(q.ready[i]) > 0 && q.mayRun(q.ready[i][0]) && !q.lingers(i, now) && (best < 0 || q.ready[i][0].oldest < q.ready[best][0].oldest) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	first := q.handOut(best, 0)
	batch := append(make([]*entry, 0, min(q.registry.list[best].Batch, 1+len(q.ready[best]))), first)
	for most := first.within(cap(batch)); len(batch) < most; {
		next := q.ready[best][0]
		if most = next.within(most); len(batch) >= most || next.open != first.open {
			break
		}
		batch = append(batch, q.handOut(best, 0))
	}
	q.opens(first)
	return batch
}

// handOut gives the entry at a position of a ready heap to a worker.
func (q *queue) handOut(observer, pos int) *entry {
	e := heap.Remove(&q.ready[observer], pos).(*entry)
	e.place = running
	q.waiting[observer]--
	q.runBegins(observer)
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
		batch := q.take()
		if batch == nil && q.releaseSpare() {
			batch = q.take()
		}
		if batch != nil {
			q.tellWatchers() // the oldest row may have been among them
			return batch
		}
		q.work.Wait()
	}
}

// finished ends the run of entries that were handled up to their covered. After
// an overflow, entries that were notified again in the meantime stay in the table with
// the rows that did not fit: otherwise rows that are notified without end
// would keep those out for ever. After a run of unknown outcome the table is
// scanned again, but only after the row's next run has ended, because only then is it
// known whether the run committed.
func (q *queue) finished(batch []*entry) { q.giveBack(batch, true) }

// giveBack is finished; ran says whether the rows were run.
func (q *queue) giveBack(batch []*entry, ran bool) {
	now, unknown := time.Now(), false
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range batch {
		q.busy[e.observer]--
		q.runEnds(e.observer, now)
		q.ranOnce(e)
		if ran {
			q.handled[e.observer]++
			q.noteRun(e, now)
		}
		unknown = unknown || e.unknown
		open := e.continues && e.again > e.covered
		q.setOpen(e, open)
		if e.again <= e.covered || q.overflow && !open {
			delete(q.entries, e.key)
			continue
		}
		e.oldest, e.newest, e.since, e.urgent = e.againFirst, e.again, e.againSince, e.againUrgent
		e.again, e.attempts, e.failures, e.most, e.unknown, e.continues, e.againUrgent = 0, 0, 0, 0, false, false, false
		q.waiting[e.observer]++
		if open {
			q.makeReady(e)
		} else {
			q.enqueue(e, now)
		}
	}
	q.overflow = q.overflow || unknown
	q.runsEnded()
}

// requeue returns entries for another run after a delay.
func (q *queue) requeue(batch []*entry, delay time.Duration) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range batch {
		q.busy[e.observer]--
		q.runEnds(e.observer, now)
		q.ranOnce(e)
		q.waiting[e.observer]++
		e.newest = max(e.newest, e.again)
		e.urgent = e.urgent || e.againUrgent
		e.again, e.doubtful, e.continues, e.againUrgent = 0, true, false, false
		if delay > 0 && !q.eager {
			q.delayUntil(e, now.Add(delay))
		} else {
			q.makeReady(e)
		}
	}
	q.runsEnded()
}

// runsEnded must be called with mu held whenever runs have ended.
func (q *queue) runsEnded() {
	q.wakeLimited()
	q.wakeSpare()
	if q.releaseDebounced(time.Now()) > 0 {
		q.wakeTimer()
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
