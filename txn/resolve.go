package txn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/store"
)

// state is the outcome of a transaction according to its primary.
type state int

const (
	stateCommitted  state = iota
	stateRolledBack       // there is a rollback record
	stateLocked           // undecided
	stateNothing          // neither lock nor record: the primary has not been locked, or not yet
)

// status is what the primary says about a transaction, with everything needed to act on it.
type status struct {
	state  state
	commit uint64     // if committed
	lock   lockRecord // if locked
	newest uint64     // newest record seen; the guard checks that none was added after it
}

// readStatus reads, at one instant, what the primary cell says about the transaction
// with this start timestamp.
func (db *DB) readStatus(ctx context.Context, primary Cell, start uint64) (status, error) {
	cells, err := db.table.Read(ctx, []byte(primary.Row),
		store.Selector{Group: lockGroup, Column: sideColumn(primary.Column), MinTS: start, MaxTS: start},
		store.Selector{Group: primary.Group, Column: recordColumn(kindRollback, primary.Name), MinTS: start, MaxTS: start},
		store.Selector{Group: primary.Group, Column: recordColumn(kindWrite, primary.Name), MinTS: start},
		store.Selector{Group: primary.Group, Column: recordColumn(kindLockOnly, primary.Name), MinTS: start},
	)
	if err != nil {
		return status{}, fmt.Errorf("txn: read the primary %s: %w", primary, err)
	}
	st := status{state: stateNothing, newest: start}
	for _, c := range cells {
		switch {
		case c.Group == lockGroup:
			st.state = stateLocked
			if st.lock, err = decodeLock(c); err != nil {
				return status{}, err
			}
		case c.Column[0] == kindRollback:
			st.state = stateRolledBack
		default:
			rec, err := decodeWrite(c.Value)
			if err != nil {
				return status{}, fmt.Errorf("%s at %d: %w", primary, c.TS, err)
			}
			st.newest = max(st.newest, c.TS)
			if rec.start == start {
				st.state, st.commit = stateCommitted, c.TS
			}
		}
	}
	return st, nil
}

// resolveLock handles a lock that a transaction found (paper, section 2.2).
// The primary decides. Committed: roll this cell forward. Rolled back: roll it
// back. Undecided: if the owner is dead or stuck, roll the primary back first.
// The owner and this process race for that one step, and both take it under a
// guard. resolveLock reports false if the owner is alive and the caller has to wait.
func (db *DB) resolveLock(ctx context.Context, c store.Cell) (resolved bool, err error) {
	col, ok := parseSideColumn(c.Column)
	if !ok {
		return false, fmt.Errorf("txn: lock in row %q has the column %q: %w", c.Row, c.Column, store.ErrCorrupt)
	}
	cell := Cell{string(c.Row), col}
	lock, err := decodeLock(c)
	if err != nil {
		return false, err
	}
	st, err := db.decide(ctx, lock)
	if err != nil {
		return false, err
	}
	switch st.state {
	case stateCommitted:
		return true, db.rollForward(ctx, cell, lock, st.commit)
	case stateRolledBack:
		return true, db.rollBack(ctx, cell, lock.start)
	}
	return false, nil
}

// decide returns the status of the lock's transaction. It first rolls the transaction back
// if it is undecided and abandoned, or if its primary has no record at all: a missing
// primary would otherwise be undecidable for ever (fluo#660).
func (db *DB) decide(ctx context.Context, lock lockRecord) (status, error) {
	var lost lostAnswers
	for {
		st, err := db.readStatus(ctx, lock.primary, lock.start)
		if err != nil {
			return status{}, err
		}
		abandoned := st.state == stateLocked && db.abandoned(ctx, st.lock)
		m := store.RowMutation{Row: []byte(lock.primary.Row), Mutations: rollback(lock.primary.Column, lock.start)}
		switch {
		case abandoned:
			m.Require = &store.CellRef{Group: lockGroup, Column: sideColumn(lock.primary.Column), TS: lock.start}
		case st.state == stateNothing:
			m.Absent = nothingSince(lock, st.newest)
		default:
			return st, nil
		}
		if err := db.resolverStep(stepResolvePrimary, lock.primary); err != nil {
			return status{}, err
		}
		res, err := db.table.Mutate(ctx, m)
		if lost.again(ctx, err) {
			continue
		}
		if err != nil {
			return status{}, fmt.Errorf("txn: roll back the primary %s: %w", lock.primary, err)
		}
		if res.Outcome == store.Applied {
			db.counters.RolledBack.Add(1)
			db.gc.queue.add(lock.primary, lock.start+1)
			return status{state: stateRolledBack}, nil
		}
	}
}

// lostAnswers tells whether a mutation that resolves a lock is repeated after an error. Its guard
// names one transaction, so it may happen late or twice.
type lostAnswers struct {
	since time.Time
	wait  backoff
}

// again reports whether the answer was lost, after a pause. It gives up after finishTimeout.
func (l *lostAnswers) again(ctx context.Context, err error) bool {
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrNotDone) {
		return false
	}
	if l.since.IsZero() {
		l.since = time.Now()
	}
	return time.Since(l.since) < finishTimeout && l.wait.sleep(ctx) == nil
}

// resolve makes a mutation that requires a lock, which it removes.
func (db *DB) resolve(ctx context.Context, m store.RowMutation) (res store.Result, err error) {
	var lost lostAnswers
	for {
		if res, err = db.table.Mutate(ctx, m); err == nil || !lost.again(ctx, err) {
			return res, err
		}
	}
}

// nothingSince holds if the primary still has neither lock nor record of the
// transaction, given that it had none up to newest.
func nothingSince(lock lockRecord, newest uint64) []store.Selector {
	p := lock.primary
	return []store.Selector{
		{Group: lockGroup, Column: sideColumn(p.Column), MinTS: lock.start, MaxTS: lock.start},
		{Group: p.Group, Column: recordColumn(kindWrite, p.Name), MinTS: newest + 1},
		{Group: p.Group, Column: recordColumn(kindLockOnly, p.Name), MinTS: newest + 1},
	}
}

// rollForward does for a committed transaction at one cell what its owner would
// have done, acknowledgement included. If the lock is gone, another process has done so.
func (db *DB) rollForward(ctx context.Context, cell Cell, lock lockRecord, commit uint64) error {
	if err := db.resolverStep(stepResolveForward, cell); err != nil {
		return err
	}
	res, err := db.resolve(ctx, store.RowMutation{
		Row:       []byte(cell.Row),
		Require:   &store.CellRef{Group: lockGroup, Column: sideColumn(cell.Column), TS: lock.start},
		Mutations: commitLock(cell.Column, lock, commit, false),
	})
	if err != nil {
		return fmt.Errorf("txn: roll forward %s: %w", cell, err)
	}
	if res.Outcome == store.Applied {
		db.counters.RolledForward.Add(1)
	}
	return nil
}

// rollBack removes the lock and data of a rolled-back transaction at one cell.
func (db *DB) rollBack(ctx context.Context, cell Cell, start uint64) error {
	if err := db.resolverStep(stepResolveBack, cell); err != nil {
		return err
	}
	_, err := db.resolve(ctx, store.RowMutation{
		Row:       []byte(cell.Row),
		Require:   &store.CellRef{Group: lockGroup, Column: sideColumn(cell.Column), TS: start},
		Mutations: rollback(cell.Column, start),
	})
	if err != nil {
		return fmt.Errorf("txn: roll back %s: %w", cell, err)
	}
	db.gc.queue.add(cell, start+1)
	return nil
}

// clearLock resolves the lock at a cell, if there is one and it can be resolved.
func (db *DB) clearLock(ctx context.Context, row string, c Column) error {
	cells, err := db.table.Read(ctx, []byte(row), store.Selector{Group: lockGroup, Column: sideColumn(c)})
	if err != nil || len(cells) == 0 {
		return err
	}
	_, err = db.resolveLock(ctx, cells[0])
	return err
}

// ResolveAbandoned resolves the locks of dead owners; after a crash of the only process,
// these are all locks. Readers would resolve each lock when they find it. But a lock that
// no reader finds keeps the group of locks from being empty, and only an empty group
// costs readers nothing (the store answers from memory). Locks of live owners remain. It
// returns how many locks it resolved.
func (db *DB) ResolveAbandoned(ctx context.Context) (n int, err error) {
	err = db.eachLock(ctx, store.MaxTS, func(c store.Cell) error {
		resolved, err := db.resolveLock(ctx, c)
		if err == nil && resolved {
			n++
		}
		return err
	})
	if err != nil {
		return n, fmt.Errorf("txn: resolve the locks of a dead process: %w", err)
	}
	return n, nil
}

// eachLock calls fn for all locks of the table up to a timestamp.
func (db *DB) eachLock(ctx context.Context, maxTS uint64, fn func(store.Cell) error) error {
	for start := []byte(nil); ; {
		var locks []store.Cell
		next, err := db.table.Scan(ctx, store.Range{Group: lockGroup, Start: start, MaxTS: maxTS, MaxCells: scanPage}, func(c store.Cell) error {
			locks = append(locks, c)
			return nil
		})
		if err != nil {
			return fmt.Errorf("look for locks: %w", err)
		}
		for _, c := range locks {
			if err := fn(c); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		start = next
	}
}
