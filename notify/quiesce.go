package notify

import (
	"context"
	"fmt"
	"time"
)

// Quiesce waits until nothing is left to do: no row waiting or running, none
// being handed over, no notification in the table, no transaction under way. It
// returns the timestamp up to which everything is done: every transaction that
// committed at or below it has been answered, and so have the observers' own.
// Errors: the cause of ctx's end, ErrStopped, or what stopped the pipeline.
//
// Whoever calls it must have no transaction of its own open, and readers that
// stay open for long should be made with txn.DB.At, which takes no timestamp:
// Quiesce waits for those of Begin.
//
// An empty queue is not enough: a transaction may have committed and not handed
// over yet. So the table is scanned too. Nor is an empty table: a two-phase
// transaction takes its commit timestamp before it puts its notifications. So no
// transaction may be running, and if any timestamp was taken meanwhile everything
// is looked at again (fluo's FluoWait does it so). In this order:
//
//	before := the last timestamp
//	nobody running     every transaction with a timestamp up to before has
//	                   ended, or has only just begun and commits above it
//	no notification    so none of theirs will come any more
//	last == before     and nobody began or committed in between
func (p *Pipeline) Quiesce(ctx context.Context) (ts uint64, err error) {
	if p.db == nil {
		return 0, ErrStopped
	}
	for pause := time.Millisecond; ; {
		if err := p.wait(ctx, func(q *queue) bool { return len(q.entries) == 0 }); err != nil {
			return 0, err
		}
		before := p.db.LastTimestamp()
		ended := p.db.Running() == 0
		found, _, _, _, err := p.look(ctx, "")
		if err != nil {
			return 0, fmt.Errorf("notify: wait for quiescence: %w", err)
		}
		switch {
		case found > 0:
			pause = time.Millisecond
		case ended && p.db.LastTimestamp() == before:
			return before, nil
		default:
			if err := sleep(ctx, pause); err != nil {
				return 0, err
			}
			pause = min(2*pause, 100*time.Millisecond)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
