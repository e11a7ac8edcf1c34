package lease

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/txn"
)

// Question asks the holder of a lease to do a task.
type Question struct {
	Lease, Task string
	// Progress is called when the task has made progress.
	Progress func(int)
	// Holder is called when a process has begun with the task. It is called again if that
	// process has died, and another one has begun.
	Holder func(Place)
	// Wait is how long to wait until a process holds the lease; 0: 3 s.
	Wait time.Duration
	// Every is how often to look for the result; 0: a quarter of a second.
	Every time.Duration
}

// ErrNobody means that no live process holds the lease.
var ErrNobody = errors.New("no live process holds the lease")

// Ask asks the holder of a lease to do a task, and returns its result as JSON. ErrNobody
// means that nothing was done, unless the error says that the holder died in the middle.
// If ctx ends, or after an error, Ask withdraws the request; a holder that has begun the task
// completes it.
func (m *Manager) Ask(ctx context.Context, q Question) (json.RawMessage, error) {
	row := requestPrefix + rand.Text()[:12]
	value, err := json.Marshal(request{Lease: q.Lease, Task: q.Task, Asker: m.live.Token(), Place: m.opts.Place})
	if err != nil {
		return nil, err
	}
	_, err = m.runWhileValid(ctx, func(tx *txn.Txn) error {
		tx.Set(row, askedColumn, value)
		return nil
	})
	if err != nil {
		err = fmt.Errorf("ask the holder of the lease %s: %w", q.Lease, err)
		if errors.Is(err, txn.ErrUnknown) { // the request may be in the table
			err = errors.Join(err, m.withdraw(ctx, row))
		}
		return nil, err
	}
	result, err := m.await(ctx, q, row)
	stays := m.withdraw(ctx, row)
	if err != nil {
		return nil, errors.Join(err, stays)
	}
	if stays != nil && m.opts.Failed != nil { // the task is done all the same
		m.opts.Failed(stays)
	}
	return result, nil
}

// withdrawWithin bounds how long an asker takes to withdraw its request. A request that
// stays is removed by the holder, once the asker is dead.
const withdrawWithin = 5 * time.Second

func (m *Manager) withdraw(ctx context.Context, row string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawWithin)
	defer cancel()
	_, err := m.runWhileValid(ctx, func(tx *txn.Txn) error {
		removeRequest(tx, row)
		return nil
	})
	if err != nil {
		return fmt.Errorf("withdraw a request to the holder of a lease: %w", err)
	}
	return nil
}

// await waits until the request is done.
func (m *Manager) await(ctx context.Context, q Question, row string) (json.RawMessage, error) {
	wait := cmp.Or(q.Wait, 3*time.Second)
	ticker := time.NewTicker(cmp.Or(q.Every, time.Second/4))
	defer ticker.Stop()
	var last report
	held := time.Now() // when a live process last held the lease
	for {
		r, alive, err := m.progressed(ctx, q.Lease, row)
		if errors.Is(err, txn.ErrConflict) && m.db.FoundDead(ctx) == nil {
			r, alive, err = last, true, nil // no process has seen a sign of life of this one for a while
		}
		switch {
		case err != nil:
			return nil, err
		case r.Done && r.Failed != "":
			return nil, r.failure()
		case r.Done:
			return r.Result, nil
		case alive:
			held = time.Now()
		case time.Since(held) > wait && r.Holder.Token != "":
			return nil, fmt.Errorf("%w %s: %s had begun and died, and no other process has taken over; start a worker, or run the command again", ErrNobody, q.Lease, r.Holder.Place)
		case time.Since(held) > wait:
			return nil, fmt.Errorf("%w %s", ErrNobody, q.Lease)
		}
		if r.Holder.Token != last.Holder.Token && q.Holder != nil {
			q.Holder(r.Holder.Place)
		}
		if r.Progress > 0 && r.Progress != last.Progress && q.Progress != nil {
			q.Progress(r.Progress)
		}
		last = r
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// progressed reads a report, and whether a live process holds the lease.
func (m *Manager) progressed(ctx context.Context, name, row string) (r report, alive bool, err error) {
	err = m.db.View(ctx, func(tx *txn.Txn) error {
		if r, err = readReport(ctx, tx, row); err != nil {
			return err
		}
		h, err := HolderOf(ctx, tx, name)
		if err != nil || h == nil {
			return err
		}
		alive, err = m.live.Alive(ctx, h.Token)
		return err
	})
	return r, alive, err
}
