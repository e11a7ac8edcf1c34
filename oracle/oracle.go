package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// rangeSize is how many timestamps are allocated with one write to the table: at the
// paper's two million a second, one write in two seconds.
const rangeSize = 1 << 22

// retryPause is the pause after a failed write to the table.
const retryPause = 50 * time.Millisecond

// ErrNotServing means that this process is not the oracle now; another one is, or will be.
var ErrNotServing = errors.New("oracle: this process does not serve now")

// term is the time in which one process is the oracle.
type term struct {
	table  store.Table
	lives  txn.Liveness
	number uint64
	began  time.Time

	handedOut, requests atomic.Uint64

	mu        sync.Mutex
	next      uint64 // the next timestamp to hand out
	ceiling   uint64 // persisted; all are below it
	extending bool
	failed    error         // of the last attempt to raise the ceiling
	raised    chan struct{} // closed when an attempt has ended
	over      error         // why the term has ended
	pace      pace
	work      sync.WaitGroup
}

// beginTerm allocates the first range of a term that was claimed.
func beginTerm(ctx context.Context, table store.Table, lives txn.Liveness, number uint64) (*term, error) {
	ceiling, err := readCeiling(ctx, table)
	if err != nil {
		return nil, err
	}
	t := &term{table: table, lives: lives, number: number, began: time.Now(), next: ceiling, ceiling: ceiling + rangeSize}
	if err := raiseCeiling(ctx, table, number, t.ceiling); err != nil {
		return nil, err
	}
	t.notePace()
	return t, nil
}

func (t *term) notePace() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pace.note(time.Now(), t.next)
}

// take takes n consecutive timestamps; with n = 0, it returns what the next one would be.
func (t *term) take(ctx context.Context, n uint64) (first uint64, err error) {
	if n > rangeSize/2 {
		return 0, fmt.Errorf("oracle: %d timestamps in one request, at most %d", n, rangeSize/2)
	}
	if err := t.valid(); err != nil {
		return 0, err // and waste no numbers
	}
	for waited := false; ; waited = true {
		first, wait, err := t.tryTake(n, waited)
		if err != nil {
			return 0, err
		}
		if wait == nil {
			// Again, and only now: see the package comment.
			if err := t.valid(); err != nil {
				return 0, err
			}
			t.requests.Add(1)
			t.handedOut.Add(n)
			return first, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

func (t *term) valid() error {
	if err := t.lives.Valid(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotServing, err)
	}
	return nil
}

// tryTake takes n timestamps, or returns what to wait for. A caller that has waited learns
// why the ceiling could not be raised.
func (t *term) tryTake(n uint64, waited bool) (first uint64, wait <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over != nil {
		return 0, nil, t.over
	}
	short := t.next+n > t.ceiling
	if short && waited && !t.extending && t.failed != nil {
		return 0, nil, fmt.Errorf("oracle: out of timestamps: %w", t.failed)
	}
	if t.next+n+rangeSize/2 > t.ceiling && !t.extending {
		t.extend()
	}
	if short {
		return 0, t.raised, nil
	}
	first = t.next
	t.next += n
	return first, nil, nil
}

// extend raises the ceiling in the background. mu is held.
func (t *term) extend() {
	t.extending, t.raised = true, make(chan struct{})
	target := t.ceiling + rangeSize
	t.work.Go(func() {
		// Its time is bounded, and the end of the request that caused it does not count.
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		err := raiseCeiling(ctx, t.table, t.number, target)
		if err != nil {
			_ = sleep.For(ctx, retryPause) // not as often as callers ask
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if err == nil {
			t.ceiling = target
		}
		if errors.Is(err, ErrReplaced) {
			t.over = err
		}
		t.failed, t.extending = err, false
		close(t.raised)
	})
}

// end ends the term: nothing is handed out afterwards.
func (t *term) end(why error) {
	t.mu.Lock()
	if t.over == nil {
		t.over = why
	}
	t.mu.Unlock()
	t.work.Wait()
}

// ended returns why the term has ended, or nil.
func (t *term) ended() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}
