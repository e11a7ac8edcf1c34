package notify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/webindexer/indexer/txn"
)

// # Scanning from random places
//
// Workers of all processes look for work in one table. If each scanned it from the
// beginning, they would crowd together: the first ones handle what they find and get slower,
// those behind find nothing and catch up, and from then on all of them move through the
// table in one clump and compete for the same rows, as buses of one line do ("platooning",
// the paper's section 2.4). The paper's cure: a worker that meets another one, that is,
// finds a row that the other has locked, jumps to a random place.
//
// A process scans only while its workers have too little to do, and takes a few rows at a
// time, so that no row waits in one process while another has nothing to do.

const (
	randomChunk     = 64  // notifications read at a time
	randomChunkMost = 512 // when many of them belong to others
	randomJumps     = 4   // places to try before a pause
	// rowsPerWorker is how many rows to find ahead for each worker.
	rowsPerWorker = 4
	// keptPlaces is how many rows to remember as places to scan from.
	keptPlaces = 64
	// deadEvery is how often a process looks for dead letters that others have written.
	deadEvery = 5 * time.Second
)

// The waits between scans that find nothing.
const (
	randomPauseLeast = 5 * time.Millisecond
	randomPauseMost  = 250 * time.Millisecond
)

// scanRandomly scans until the pipeline is stopped.
func (p *Pipeline) scanRandomly(ctx context.Context) {
	wait := pause{least: randomPauseLeast, most: randomPauseMost}
	var scans scanRest
	dead := time.Now()
	for p.queue.waitStarving() {
		began := time.Now()
		found, met, err := p.scanRandomPlaces(ctx)
		took := time.Since(began)
		if err == nil && time.Since(dead) > deadEvery {
			err, dead = p.loadDead(ctx), time.Now()
		}
		switch {
		case err != nil && fatal(err):
			p.Fail(fmt.Errorf("notify: look for notifications: %w", err))
			return
		case err != nil:
			p.noteStoreFailure(err)
		case found > 0:
			wait.reset()
			continue
		}
		rest := wait.grow()
		if err == nil && !met { // it has read the whole table, maybe past many rows that back off
			rest = max(rest, scans.after(took))
		}
		if !p.queue.sleep(rest) {
			return
		}
	}
}

// scanRandomPlaces scans from a random place. If it meets another process before it has found
// anything, it jumps to another place, a few times. It returns how many rows it has found, and whether
// it met another process in the end.
//
// Pausing after the first meeting left eight workers idle for a sixth of the time while hundreds of
// rows waited: a process locks rows that are close together, so a scan that meets it often finds
// nothing free.
func (p *Pipeline) scanRandomPlaces(ctx context.Context) (found int, met bool, err error) {
	p.queue.clearOverflow() // the scan finds again what did not fit
	for range randomJumps {
		if found, met, err = p.scanFrom(ctx, p.shared.places.pick()); err != nil || found > 0 || !met || p.queue.isClosed() {
			break
		}
	}
	return found, met, err
}

// scanFrom scans from a place, around the end of the table and back to the place, or
// until the workers have enough to do, or until it meets another process.
func (p *Pipeline) scanFrom(ctx context.Context, first string) (found int, met bool, err error) {
	wrapped := first == ""
	chunk := randomChunk
	for from := first; ; {
		notes, next, err := p.db.Notifications(ctx, from, chunk)
		if err != nil {
			return found, false, err
		}
		p.shared.places.note(notes)
		got, met := p.take(ctx, notes)
		found += got
		if met || !p.queue.starving() || p.queue.isClosed() {
			return found, met, nil
		}
		if got == 0 {
			chunk = min(2*chunk, randomChunkMost)
		}
		switch {
		case next == "" && wrapped, wrapped && first != "" && next >= first:
			return found, false, nil
		case next == "":
			wrapped = true
		}
		from = next
	}
}

// take locks the notified rows that this process may run, and adds them to the queue. It
// reports how many it has taken, and whether another process had one of the others.
func (p *Pipeline) take(ctx context.Context, notes []txn.Notification) (got int, met bool) {
	var free []txn.Notification
	var names []string
	for _, n := range notes {
		if o := p.registry.observer(n); o != nil && !o.leased() && !p.queue.has(n.Cell.Row, n.Observer) {
			free = append(free, n)
			names = append(names, lockName(n.Observer, n.Cell.Row))
		}
	}
	// Take only as many as needed, from anywhere in the chunk. The queue should stay short,
	// and other processes need rows as well.
	if most := p.queue.shortfall(); len(free) > most {
		i := rand.IntN(len(free) - most + 1)
		free, names = free[i:i+most], names[i:i+most]
	}
	if len(free) == 0 {
		return 0, false
	}
	locked, err := p.shared.locks.TryLock(ctx, names)
	if err != nil { // without the lock service, processes duplicate work, but lose none
		p.noteStoreFailure(err)
		p.queue.addFound(free, false)
		return len(free), false
	}
	var mine []txn.Notification
	for i, n := range free {
		if locked[i] {
			mine = append(mine, n)
		} else {
			met = true
		}
	}
	var back []string
	for _, n := range p.queue.addFound(mine, true) {
		back = append(back, lockName(n.Observer, n.Cell.Row))
	}
	p.release(ctx, back)
	return len(mine) - len(back), met
}

// addFound adds notifications that were found in the table, and returns those that did not
// fit or whose row is with a worker: its lock belongs to the run.
func (q *queue) addFound(notes []txn.Notification, locked bool) (left []txn.Notification) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, n := range notes {
		k := key{q.registry.byName[n.Observer], n.Cell.Row}
		if e := q.entries[k]; e != nil && e.place == running || !q.addOne(k, n, now, true) {
			left = append(left, n)
			continue
		}
		q.entries[k].locked = locked
	}
	return left
}

// shortfall is how many more rows the workers could take now.
func (q *queue) shortfall() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return max(rowsPerWorker*q.wanted-q.unleased(), 0)
}

// starving reports whether workers have too little to do.
func (q *queue) starving() bool { return q.shortfall() > 0 }

// unleased counts the ready rows of observers without a lease. Rows that back off do not count:
// they give the workers nothing to do, possibly for as long as a search server is down.
func (q *queue) unleased() (n int) {
	for i := range q.ready {
		if !q.registry.list[i].leased() {
			n += len(q.ready[i])
		}
	}
	return n
}

// waitStarving waits until workers have too little to do. It returns false once the queue is
// closed.
func (q *queue) waitStarving() bool {
	w := q.watch(func(q *queue) bool { return q.unleased() < rowsPerWorker*q.wanted })
	defer q.unwatch(w)
	select {
	case <-w.met:
	case <-q.stopped:
	}
	return !q.isClosed()
}

// places remembers rows that had notifications, as random places to scan from, because rows
// are not spread evenly over all strings.
type places struct {
	mu   sync.Mutex
	rows []string
}

// note remembers some rows.
func (p *places) note(notes []txn.Notification) {
	if len(notes) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	row := notes[rand.IntN(len(notes))].Cell.Row
	if len(p.rows) < keptPlaces {
		p.rows = append(p.rows, row)
		return
	}
	p.rows[rand.IntN(len(p.rows))] = row
}

// pick returns a random place, or "" for the beginning if no row is known. A place is a
// prefix of any length of a known row, followed by bytes as they occur in rows. So it may
// be near the row or far from it, before it or after it.
//
// Rejected: the known rows themselves. Rows are noted after the place where a scan began,
// so after some jumps all places were near the end of the table, and rows at its
// beginning waited.
func (p *places) pick() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.rows) == 0 {
		return ""
	}
	row := p.rows[rand.IntN(len(p.rows))]
	place := []byte(row[:rand.IntN(len(row)+1)])
	for range 2 {
		if other := p.rows[rand.IntN(len(p.rows))]; other != "" {
			place = append(place, other[rand.IntN(len(other))])
		}
	}
	return string(place)
}
