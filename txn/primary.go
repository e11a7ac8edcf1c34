package txn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/store"
)

// commitPrimary is the commit point: it replaces the primary's lock by a write record,
// if the lock still exists. If the store does not report the outcome, the primary does:
//
//	primary      the mutation was                        then
//	committed    applied, now or by an earlier attempt   continue
//	rolled back  refused, and always will be             undo the other cells
//	locked       not applied so far                      retry; after many failures, give up
//	nothing      applied or refused, unknown which       report that, and undo nothing
//
// The last case arises if this process was stopped and others found it dead: they have
// collected the record of its commit, or of its rollback.
//
// Rolling back races with our own late mutation, and must not undo a commit. So the
// primary is rolled back under the same guard as the mutation (that the lock still
// exists), so only one of the two can be applied.
//
// commitPrimary ignores the end of ctx; finishTimeout bounds the attempts.
func (c *committing) commitPrimary(ctx context.Context, commit uint64) error {
	p := c.primary
	if err := c.t.db.step(stepCommitPrimary, p.cell); err != nil {
		return c.abort(ctx, err)
	}
	if err := context.Cause(ctx); err != nil {
		return c.abort(ctx, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*finishTimeout)
	defer cancel()
	var (
		wait     backoff
		began    = time.Now()
		mutation = c.commitMutation(commit)
		aborting error // why we are rolling back
	)
	for {
		m := mutation
		if aborting != nil {
			m.Mutations = rollback(p.cell.Column, c.t.start)
		}
		res, err := c.t.db.table.Mutate(ctx, m)
		if err == nil && res.Outcome == store.Applied {
			if aborting != nil {
				return c.abort(ctx, aborting)
			}
			return nil
		}
		st, serr := c.t.db.readStatus(ctx, p.cell, c.t.start)
		switch {
		case serr == nil && st.state == stateCommitted:
			return nil
		case serr != nil, errors.Is(err, store.ErrBroken): // the next process that opens a broken table finds the lock
			return fmt.Errorf("%w: commit of %s: %w", ErrUnknown, p.cell, errors.Join(err, serr))
		case st.state == stateNothing:
			return fmt.Errorf("%w: commit of %s: other processes have found this one dead, and collected the record", ErrUnknown, p.cell)
		case st.state != stateLocked && aborting != nil:
			return c.abort(ctx, aborting)
		case st.state != stateLocked:
			return c.abort(ctx, c.rolledBack())
		case aborting == nil && (errors.Is(err, store.ErrTooLarge) || time.Since(began) > finishTimeout):
			aborting = fmt.Errorf("txn: commit of %s: %w", p.cell, err)
			continue
		}
		if err := wait.sleep(ctx); err != nil {
			return fmt.Errorf("%w: commit of %s: %w", ErrUnknown, p.cell, err)
		}
	}
}

// finishTimeout bounds the work of a commit that ignores the end of its context: each
// single write, and the attempts at the commit point.
const finishTimeout = 10 * time.Second

// commitMutation commits the primary, together with its row's notifications.
func (c *committing) commitMutation(commit uint64) store.RowMutation {
	p := c.primary.cell
	m := store.RowMutation{
		Row:       []byte(p.Row),
		Require:   c.primaryLock(),
		Mutations: commitLock(p.Column, c.record(c.primary), commit, true),
	}
	for _, n := range c.t.notes {
		if n.cell.Row == p.Row {
			m.Mutations = append(m.Mutations, c.t.db.notify(n.cell, n.observer, commit))
		}
	}
	return m
}

// primaryLock names the primary's lock, for a guard.
func (c *committing) primaryLock() *store.CellRef {
	return &store.CellRef{Group: lockGroup, Column: sideColumn(c.primary.cell.Column), TS: c.t.start}
}

// rolledBack is the conflict with another process that considered this transaction dead.
func (c *committing) rolledBack() error {
	c.t.db.counters.Conflicts.Add(1)
	return &ConflictError{Cell: c.primary.cell, Reason: "rolled back", By: c.t.start}
}
