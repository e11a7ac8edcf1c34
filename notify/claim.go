package notify

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/txn"
)

// claim claims the rows of a batch that is about to run for this process. It returns those
// to run, and gives the others back: rows that another process has, and rows whose
// notification has gone from the table, because a run has handled it. That loses nothing: a
// notification that has not been handled is in the table, and some process finds it there.
//
// A row that another process has may have been notified after the run there began. That
// run leaves the notification in the table.
func (p *Pipeline) claim(ctx context.Context, o *Observer, batch []*entry) ([]*entry, error) {
	batch, others := divide(batch, func(i int) bool { return p.mine(o, batch[i].row) })
	p.queue.leave(others)
	if len(batch) == 0 {
		return nil, nil
	}
	batch = p.lock(ctx, o, batch)
	gone, err := p.gone(ctx, o, batch)
	if err != nil {
		return batch, err
	}
	kept, left := divide(batch, func(i int) bool { return !gone[i] })
	p.unlock(ctx, left)
	p.queue.leave(left)
	return kept, nil
}

// divide divides a batch into the entries to keep, by their index, and the others.
func divide(batch []*entry, keep func(i int) bool) (kept, others []*entry) {
	for i, e := range batch {
		if keep(i) {
			kept = append(kept, e)
		} else {
			others = append(others, e)
		}
	}
	return kept, others
}

// lock locks the rows of a batch that are not locked yet, and gives those back that another
// process has.
func (p *Pipeline) lock(ctx context.Context, o *Observer, batch []*entry) []*entry {
	if o.leased() { // no other process runs them
		return batch
	}
	var free []*entry
	for _, e := range batch {
		if !e.locked {
			free = append(free, e)
		}
	}
	if len(free) == 0 {
		return batch
	}
	names := make([]string, len(free))
	for i, e := range free {
		names[i] = lockName(o.Name, e.row)
	}
	got, err := p.shared.locks.TryLock(ctx, names)
	if err != nil {
		return batch // locks only save work; without them, processes may duplicate it
	}
	for i, e := range free {
		e.locked = got[i]
	}
	kept, left := divide(batch, func(i int) bool { return batch[i].locked })
	p.queue.leave(left)
	return kept
}

// unlockWithin bounds the release of locks: they expire anyway.
const unlockWithin = 5 * time.Second

// unlock releases the locks of entries that are with a worker. It must come before the
// entries return to the queue: another worker of this process could not lock them.
func (p *Pipeline) unlock(ctx context.Context, batch []*entry) {
	var names []string
	for _, e := range batch {
		if e.locked {
			names = append(names, lockName(p.registry.list[e.observer].Name, e.row))
			e.locked = false
		}
	}
	p.release(ctx, names)
}

func (p *Pipeline) release(ctx context.Context, names []string) {
	if len(names) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockWithin)
	defer cancel()
	_ = p.shared.locks.Unlock(ctx, names) // a lost release costs time only
}

// releaseAll releases the locks of all rows in the queue, after the last worker has ended,
// so that other processes need not wait until the locks expire.
func (p *Pipeline) releaseAll() {
	var names []string
	p.queue.mu.Lock()
	for k, e := range p.queue.entries {
		if e.locked {
			names = append(names, lockName(p.registry.list[k.observer].Name, e.row))
			e.locked = false
		}
	}
	p.queue.mu.Unlock()
	p.release(context.Background(), names)
}

func lockName(observer, row string) string { return observer + "\x00" + row }

// claimReads is how many rows claim looks up at a time.
const claimReads = 16

// gone looks up which rows of a batch have lost their notification in the table. It
// skips rows of a leased observer that were handed over: only this process runs them,
// and the queue knows of its runs.
func (p *Pipeline) gone(ctx context.Context, o *Observer, batch []*entry) ([]bool, error) {
	gone := make([]bool, len(batch))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(claimReads)
	for i, e := range batch {
		if o.leased() && !e.doubtful {
			continue
		}
		g.Go(func() error {
			ts, err := p.db.Notified(ctx, txn.Cell{Row: e.row, Column: o.Watches}, o.Name)
			gone[i] = ts == 0
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %w", errBegin, err)
	}
	return gone, nil
}

// enter begins a run of an observer under the leases of its rows, if it needs any.
//
// A lease admits a number of runs at a time, and further ones wait. Runs that enter several
// leases enter them in the same order, so they never wait for each other in a circle.
func (p *Pipeline) enter(ctx context.Context, o *Observer, batch []*entry) (LeasedRun, error) {
	if p.shared == nil || !o.leased() {
		return leasedRuns{}, nil
	}
	var names []string
	for _, e := range batch {
		names = append(names, o.LeaseOf(e.row))
	}
	slices.Sort(names)
	var runs leasedRuns
	for _, name := range slices.Compact(names) {
		r, err := p.shared.leases.Enter(ctx, name)
		if err != nil {
			runs.Leave()
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// leasedRuns is a run under several leases, or under none.
type leasedRuns []LeasedRun

// Guard implements LeasedRun.
func (l leasedRuns) Guard(ctx context.Context, tx *txn.Txn) error {
	for _, r := range l {
		if err := r.Guard(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// Leave implements LeasedRun.
func (l leasedRuns) Leave() {
	for _, r := range l {
		r.Leave()
	}
}

// runShared is run for a table that other processes use as well.
func (p *Pipeline) runShared(ctx context.Context, batch []*entry) {
	o := &p.registry.list[batch[0].observer]
	claimed, err := p.claim(ctx, o, batch)
	switch {
	case err != nil:
		p.noteStoreFailure(err)
		p.unlock(ctx, claimed)
		p.ended(ctx, o, claimed, Attempt{Err: err})
	case len(claimed) > 0:
		p.runClaimed(ctx, claimed)
	}
}

// leave gives back entries that this process does not run: their notifications are in the
// table, or were handled. An entry that was notified again in the meantime stays.
func (q *queue) leave(batch []*entry) {
	if len(batch) == 0 {
		return
	}
	for _, e := range batch {
		e.covered = e.newest
	}
	q.giveBack(batch, false)
}
