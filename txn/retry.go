package txn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
)

// backoff waits longer each time: 1 ms, doubling up to 1 s. Each wait is drawn at
// random from its upper half, so that transactions that conflicted once do not conflict
// again.
type backoff struct {
	next time.Duration
}

const (
	backoffFirst = time.Millisecond
	backoffMax   = time.Second
)

func (b *backoff) sleep(ctx context.Context) error {
	if b.next == 0 {
		b.next = backoffFirst
	}
	d := b.next/2 + rand.N(b.next/2)
	b.next = min(2*b.next, backoffMax)
	return sleep.For(ctx, d)
}

// maxAttempts bounds Run: with the waits in between, it takes about half a minute.
const maxAttempts = 40

// Run begins a transaction, calls fn, and commits. After a conflict it waits and starts over
// with a new transaction. Transactions that conflicted at one cell retry in order of arrival
// (fairqueue.go), so none starves. A process that others have found dead does not start over
// (ErrDead). fn must have no effects outside the transaction, and must not commit. Run returns
// an unknown outcome to the caller (ErrUnknown), because only the caller knows whether a
// repetition is harmful.
func (db *DB) Run(ctx context.Context, fn func(*Txn) error) (commit uint64, err error) {
	wait := backoff{}
	place := queuePlace{queue: &db.fair}
	defer place.leave()
	for range maxAttempts {
		commit, err = db.attempt(ctx, fn, &place)
		if !errors.Is(err, ErrConflict) {
			return commit, err
		}
		if dead := db.FoundDead(ctx); dead != nil {
			return 0, errors.Join(dead, err)
		}
		if conflict, ok := errors.AsType[*ConflictError](err); ok && place.moveTo(ctx, conflict.Cell) {
			continue
		}
		if err := wait.sleep(ctx); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("txn: gave up after %d attempts: %w", maxAttempts, err)
}

func (db *DB) attempt(ctx context.Context, fn func(*Txn) error, place *queuePlace) (uint64, error) {
	t, err := db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer t.Rollback()
	if err := fn(t); err != nil {
		return 0, err
	}
	if err := place.check(t.writes.order); err != nil {
		return 0, err
	}
	return t.Commit(ctx)
}
