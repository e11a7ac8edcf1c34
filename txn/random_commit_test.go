package txn

import (
	"context"
	"errors"
	"slices"
	"time"
)

// The commits of a random program. While one runs, everything else stands still,
// so that the program is determined by its seed.

// onStep is Options.Step.
func (r *random) onStep(step string, _ Cell) error {
	x := r.committing
	switch step {
	case stepOracleRange, stepOracleRangeWritten: // of no transaction
		return nil
	case stepUndo: // a live process that leaves locks: steps_test.go
		return nil
	case stepNotify: // the commit timestamp has just been taken
		x.commit = r.db.LastTimestamp()
	case stepBatchCommitted:
		x.commit = r.db.LastTimestamp()
		r.decide(x)
	case stepPrimaryCommitted, stepCommitSecondary, stepSecondaryCommitted, stepUnnotify, stepHandover:
		r.decide(x)
	}
	if x.stopAt < 0 {
		return nil
	}
	if x.stopAt--; x.stopAt >= 0 {
		return nil
	}
	r.logf("%d stops before %s", x.start, step)
	x.said <- errStopped
	return <-x.goOn
}

// decide tells the model, once, that a transaction is past its commit point.
func (r *random) decide(x *randomTxn) {
	if x.decided || x.commit == 0 {
		return
	}
	x.decided = true
	if why := r.model.refusal(&x.modelTxn); why != "" {
		r.wrongf("%d committed at %d, although %s", x.start, x.commit, why)
	}
	r.model.commit(&x.modelTxn, x.commit)
}

func (r *random) commit(x *randomTxn) {
	x.stopAt = -1
	if r.rng.IntN(2) == 0 {
		x.stopAt = r.rng.IntN(10)
	}
	r.logf("%d commits", x.start)
	r.committing = x
	go func() {
		ts, err := x.tx.Commit(context.Background())
		if ts != 0 {
			x.commit = ts
		}
		x.said <- err
	}()
	r.await(x)
	if x.stopped && !r.bubble {
		// Without fake time no transaction may find the lock of a stopped commit.
		if r.rng.IntN(3) == 0 {
			r.reopen()
		} else {
			r.resume(x, -1, nil)
		}
	}
}

func (r *random) resume(x *randomTxn, stopAt int, err error) {
	r.logf("%d goes on: %v", x.start, err)
	x.stopAt = stopAt
	r.committing = x
	x.goOn <- err
	r.await(x)
}

// await waits until a commit stops or ends, and judges how.
func (r *random) await(x *randomTxn) {
	err := <-x.said
	if errors.Is(err, errStopped) {
		if !x.stopped {
			x.since = time.Now()
		}
		x.stopped = true
		return
	}
	r.logf("%d ends, commit %d: %v", x.start, x.commit, err)
	r.drop(x)
	injected := errors.Is(err, ErrCrash) || errors.Is(err, errStepFailed)
	if injected {
		r.dead = append(r.dead, x)
	}
	switch {
	case err == nil && len(x.writes)+len(x.triggers)+len(x.locks) > 0:
		r.decide(x)
	case injected, err == nil:
	case !errors.Is(err, ErrConflict):
		r.wrongf("%d: %v", x.start, err)
	case r.model.refusal(&x.modelTxn) == "" && !r.mayBeLocked(x) && !x.mayBeDead():
		r.wrongf("%d was refused for nothing: %v", x.start, err)
	}
}

// mayBeDead: it stopped for so long that another transaction may have rolled it back.
func (x *randomTxn) mayBeDead() bool { return x.stopped && time.Since(x.since) > randomTTL }

// mayBeLocked: a commit that stopped, or one that crashed, may hold a lock.
func (r *random) mayBeLocked(x *randomTxn) bool {
	for _, y := range slices.Concat(r.live, r.dead) {
		if y != x && y.stopped && slices.ContainsFunc(x.cells(), y.touches) {
			return true
		}
	}
	return false
}
