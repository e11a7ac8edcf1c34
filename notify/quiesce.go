package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/txn"
)

// Quiesce waits until all work is done: no row is waiting, running or being handed over,
// the table has no notification, and no transaction is open. It returns the timestamp up
// to which everything is done: the observers have handled every transaction that
// committed at or below it, including their own. Errors: the cause of ctx's end,
// ErrStopped, or the failure that stopped the pipeline.
//
// The caller must have no open transaction of its own. Readers that
// stay open for long should be made with txn.DB.At, which takes no timestamp:
// Quiesce waits for those of Begin.
//
// An empty queue is not enough, because a transaction may have committed and not handed
// its notifications over yet. So the table is scanned too. An empty table is not enough
// either, because a two-phase transaction takes its commit timestamp before it writes its
// notifications. So no transaction may be running, and if any timestamp was taken in the
// meantime, everything is checked again (as in Fluo's FluoWait). In this order:
//
//	before := the last timestamp
//	no transaction     every transaction with a timestamp up to before has
//	                   ended, or has only just begun and commits above it
//	no notification    so they will send no more
//	no other scan      nor does one hold a notification that was handled after it was read
//	                   (scanPage), with which a weak observer would run again
//	last == before     and no transaction began or committed in between
func (p *Pipeline) Quiesce(ctx context.Context) (ts uint64, err error) {
	if p.db == nil {
		return 0, ErrStopped
	}
	if p.shared != nil {
		return p.quiesceShared(ctx)
	}
	for pause := time.Millisecond; ; {
		if err := p.wait(ctx, func(q *queue) bool { return len(q.entries) == 0 }); err != nil {
			return 0, err
		}
		before := p.db.LastTimestamp()
		ended := p.db.Running() == 0
		found, _, _, _, err := p.scanPage(ctx, "")
		if err != nil {
			return 0, fmt.Errorf("notify: wait for quiescence: %w", err)
		}
		switch {
		case found > 0:
			pause = time.Millisecond
		case ended && p.idleScans() && p.db.LastTimestamp() == before:
			return before, nil
		default:
			if err := sleep.For(ctx, pause); err != nil {
				return 0, err
			}
			pause = min(2*pause, 100*time.Millisecond)
		}
	}
}

// idleScans reports whether no scan is under way and the queue has all that earlier ones found.
func (p *Pipeline) idleScans() bool {
	if !p.scans.TryLock() {
		return false
	}
	defer p.scans.Unlock()
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	return len(p.queue.entries) == 0
}

// outageMost is how long Quiesce waits for a server that does not answer: the table's, or an
// oracle. A load waits as long.
const outageMost = 10 * time.Minute

// quiesceShared is Quiesce on a table that several processes share. Only the table and the
// oracle know what all of them do. The caller is a waiter for the rows of this process only.
func (p *Pipeline) quiesceShared(ctx context.Context) (uint64, error) {
	defer p.queue.addWaiter()()
	wait := pause{least: time.Millisecond, most: 100 * time.Millisecond}
	for answered := time.Now(); ; {
		ts, ok, err := p.db.Quiescent(ctx)
		switch {
		case err == nil && ok:
			return ts, nil
		case err == nil:
			answered = time.Now()
		case !txn.Temporary(err) || time.Since(answered) > outageMost:
			return 0, fmt.Errorf("notify: wait for quiescence: %w", err)
		}
		if err := sleep.For(ctx, wait.grow()); err != nil {
			return 0, err
		}
		if p.queue.isClosed() {
			return 0, p.whyStopped()
		}
	}
}
