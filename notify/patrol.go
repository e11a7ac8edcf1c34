package notify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/txn"
)

// patrol looks through the whole table, again and again, while this process holds a lease:
// for notifications of leased observers, which only it runs, and for whatever is upstream of
// them, which any process may run.
//
// Leased observers are debounced, so it does no harm that patrol finds their rows a moment
// later than a hand-over would.
func (p *Pipeline) patrol(ctx context.Context) {
	wait := pause{least: patrolPauseLeast, most: patrolPauseMost}
	var took time.Duration
	for p.queue.rest(max(wait.next, 2*took)) {
		if !p.holdsAny() {
			p.queue.setElsewhere(nil)
			wait.grow()
			continue
		}
		began := time.Now()
		found, err := p.lookThrough(ctx)
		took = time.Since(began)
		switch {
		case err != nil && fatal(err):
			p.fail(fmt.Errorf("notify: look for notifications: %w", err))
			return
		case err != nil:
			p.troubled(err)
			wait.grow()
		case found:
			wait.reset()
		default:
			wait.grow()
		}
	}
}

// The waits between two looks through the table.
const (
	patrolPauseLeast = 10 * time.Millisecond
	patrolPauseMost  = 200 * time.Millisecond
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

// lookThrough looks through the table once, and reports whether it has any notification. Those of
// leased observers lie apart, except what processes have sent that do not know them as such.
func (p *Pipeline) lookThrough(ctx context.Context) (any bool, err error) {
	elsewhere := make([]bool, len(p.registry.list))
	err = p.db.EachNotification(ctx, func(notes []txn.Notification) error {
		any = any || len(notes) > 0
		var leased, strays []txn.Notification
		for _, n := range notes {
			o := p.registry.observer(n)
			if o != nil && n.Apart && !o.leased() { // its sender has other settings
				strays = append(strays, n)
			}
			switch {
			case o == nil:
			case o.leased() && p.mine(o, n.Cell.Row):
				leased = append(leased, n)
			case o.Debounce == 0:
				elsewhere[p.registry.byName[n.Observer]] = true
			}
		}
		p.queue.addFound(leased, false) // the next look finds what does not fit
		if p.queue.isClosed() {
			return txn.ErrStop
		}
		return p.db.Reunite(ctx, strays)
	})
	if err == nil {
		p.queue.setElsewhere(elsewhere)
	}
	return any, err
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
