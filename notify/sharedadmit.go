package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/txn"
)

// admission lets a loader of a shared table load as many rows as fit between the backlog
// and its limit, and then counts again. The loader does not know what other processes have
// in their queues, but all of it is in the table as well.
type admission struct {
	turn chan struct{} // holds a token; its owner may read and write the other fields
	left int
}

func newAdmission() admission {
	a := admission{turn: make(chan struct{}, 1)}
	a.turn <- struct{}{}
	return a
}

// The pauses between two counts.
const (
	admitPauseLeast = 10 * time.Millisecond
	admitPauseMost  = 500 * time.Millisecond
)

// admitShared is Admit on a shared table. Rows of debounced observers do not count, as in
// one process: loading less would not help them. The age of the oldest row is unknown:
// timestamps are numbers, not times.
func (p *Pipeline) admitShared(ctx context.Context) error {
	a := &p.shared.admit
	select {
	case <-a.turn:
		defer func() { a.turn <- struct{}{} }()
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.queue.stopped:
		return p.whyStopped()
	}
	wait := pause{least: admitPauseLeast, most: admitPauseMost}
	for !p.queue.isClosed() {
		if a.left > 0 {
			a.left--
			return nil
		}
		waiting, err := p.countWaiting(ctx, p.opts.Backlog)
		if err != nil {
			return fmt.Errorf("notify: count the rows that wait for observers: %w", err)
		}
		// Wait for a tenth to be done, so that the next count does not follow at once.
		if room := p.opts.Backlog - waiting; room >= (p.opts.Backlog+9)/10 {
			a.left = room
			continue
		}
		if err := sleep.For(ctx, wait.grow()); err != nil {
			return err
		}
	}
	return p.whyStopped()
}

// countWaiting counts the notifications in the table that a worker could take now, up to a
// limit.
func (p *Pipeline) countWaiting(ctx context.Context, limit int) (n int, err error) {
	err = p.db.EachNotification(ctx, func(notes []txn.Notification) error {
		for _, note := range notes {
			if o := p.registry.observer(note); o == nil || o.Debounce == 0 {
				n++
			}
		}
		if n >= limit {
			return txn.ErrStop
		}
		return nil
	})
	return min(n, limit), err
}
