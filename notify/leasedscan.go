package notify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/txn"
)

// scanLeased scans the whole table, again and again, while this process holds a lease. It
// looks for notifications of leased observers, which only this process runs, and of the
// observers upstream of them, which any process may run.
//
// It finds rows a moment later than a hand-over would. That does no harm, because leased
// observers are debounced.
func (p *Pipeline) scanLeased(ctx context.Context) {
	wait := pause{least: leasedPauseLeast, most: leasedPauseMost}
	var scans scanRest
	var rest time.Duration
	for p.queue.sleep(max(wait.grow(), rest)) {
		if !p.holdsAny() {
			p.queue.setElsewhere(nil)
			continue
		}
		began := time.Now()
		found, err := p.scanAll(ctx)
		rest = scans.after(time.Since(began))
		switch {
		case err != nil && fatal(err):
			p.Fail(fmt.Errorf("notify: look for notifications: %w", err))
			return
		case err != nil:
			p.noteStoreFailure(err)
			rest = 0 // the store may have been silent for long, and answer again
		case found:
			wait.reset()
		}
	}
}

// The pauses between two scans of the table.
const (
	leasedPauseLeast = 10 * time.Millisecond
	leasedPauseMost  = 200 * time.Millisecond
)

// holdsAny reports whether this process holds the lease of an observer.
func (p *Pipeline) holdsAny() bool {
	for i := range p.registry.list {
		if o := &p.registry.list[i]; o.leased() && slices.ContainsFunc(o.leases(), p.shared.leases.Held) {
			return true
		}
	}
	return false
}

// scanAll scans the table once, and reports whether it has found rows that the queue did not have.
// The notifications of leased observers are in a group of their own, except those sent by processes
// that do not know that the observer has a lease.
func (p *Pipeline) scanAll(ctx context.Context) (found bool, err error) {
	elsewhere := make([]bool, len(p.registry.list))
	err = p.db.EachNotification(ctx, func(notes []txn.Notification) error {
		var leased, strays []txn.Notification
		for _, n := range notes {
			o := p.registry.observer(n)
			if o != nil && n.Leased && !o.leased() { // its sender has other settings
				strays = append(strays, n)
			}
			switch {
			case o == nil:
			case o.leased() && p.mine(o, n.Cell.Row):
				found = found || !p.queue.has(n.Cell.Row, n.Observer)
				leased = append(leased, n)
			case o.Debounce == 0:
				elsewhere[p.registry.byName[n.Observer]] = true
			}
		}
		p.queue.addFound(leased, false) // the next scan finds what does not fit
		if p.queue.isClosed() {
			return txn.ErrStop
		}
		return p.db.MoveLeased(ctx, strays)
	})
	if err == nil {
		p.queue.setElsewhere(elsewhere)
	}
	return found, err
}

// setElsewhere records which observers have work that is not in this queue. nil: unknown,
// so any of them may have.
func (q *queue) setElsewhere(busy []bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.elsewhere {
		was := q.elsewhere[i]
		q.elsewhere[i] = busy == nil || busy[i]
		if q.elsewhere[i] && !was {
			q.upstreamBusy(i)
		}
	}
	q.runsEnded()
}
