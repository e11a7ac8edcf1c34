package txn

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// The one-phase path: an engine that holds all rows applies the transaction as
// one atomic batch. There is never a lock on disk, and a crash leaves either the
// whole batch or nothing.
//
//  1. Guards: after the start timestamp, no write to our cells and no commit that read
//     them for update; no lock on them (of a two-phase transaction, maybe in an
//     earlier process); no acknowledgement of our triggers since their notification.
//  2. If the guards hold, the engine takes the commit timestamp, from beyond the window
//     of start timestamps (see oracle.go).
//  3. The batch writes, at the commit timestamp, values inside their write records,
//     and notifications; and at the start timestamp, acknowledgements. It
//     removes the handled notifications, up to the start timestamp. The
//     removal comes before the new notifications, because an observer may notify itself.
//
// # Both paths on one table
//
// A transaction that is too large for a batch takes the two-phase path, and an earlier
// process may have used it. The two paths are compatible in every interleaving:
//
//   - A one-phase writer and a two-phase writer of a cell. The guards and writes of
//     each are one atomic step of the store, so one comes first. If the lock comes
//     first, the batch is refused, whether or not the lock's owner has committed. If the
//     batch comes first, at C, the prewrite of a transaction with start S is refused
//     if C > S; and if C < S, that transaction saw the batch.
//   - A reader at S and a two-phase commit at C < S. C was taken after all locks
//     were in the table, and before S, and the reader reads after it has S: it
//     finds the lock or the record. C may have come from the window during a flush. That
//     changes nothing, because S > C was then handed out later.
//   - A reader at S and a one-phase commit at C < S: see the proof in oracle.go.
//   - Two runs of an observer. Both paths guard a trigger against a lock
//     and against an acknowledgement since its notification, and both leave an
//     acknowledgement. So the second run is refused.
//   - The transaction itself: only store.ErrTooLarge moves it from one path to the
//     other, and that error guarantees that nothing happened, then or later.
func (t *Txn) commitOnePhase(ctx context.Context) (uint64, error) {
	if err := t.db.step(stepCommitBatch, Cell{}); err != nil {
		return 0, err
	}
	if n, most := t.writes.bytes(), t.db.table.Limits().MaxBatchBytes; n > most {
		return 0, fmt.Errorf("%w: values of %d bytes, at most %d", store.ErrTooLarge, n, most) // a batch would copy them
	}
	b := t.batch()
	commit, res, err := t.db.committer.Commit(ctx, b.rows.list)
	switch {
	case errors.Is(err, store.ErrTooLarge):
		return 0, err // nothing happened; the transaction takes the two-phase path, cell by cell
	case errors.Is(err, errOracleRange):
		return 0, fmt.Errorf("%w: %w", ErrConflict, err) // nothing happened; the next attempt finds the range
	case err != nil && res.Outcome == store.Unknown && mayHaveHappened(err):
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	case err != nil:
		return 0, fmt.Errorf("txn: commit: %w", err)
	case res.Outcome == store.Refused:
		return 0, t.refused(ctx, res)
	}
	b.release()
	return commit, t.db.step(stepBatchCommitted, Cell{})
}

// mayHaveHappened distinguishes errors of a batch that was being written from errors of
// a batch that was rejected.
func mayHaveHappened(err error) bool {
	return !errors.Is(err, store.ErrNotDone) && !errors.Is(err, store.ErrClosed) && !errors.Is(err, store.ErrUnknownGroup)
}

// unwritten holds if no transaction committed a write to the column after our start.
func (t *Txn) unwritten(c Column) store.Selector {
	return store.Selector{Group: c.Group, Column: recordColumn(kindWrite, c.Name), MinTS: t.start}
}

// unlocked holds if no transaction holds a lock on the column.
func unlocked(c Column) store.Selector {
	return store.Selector{Group: lockGroup, Column: sideColumn(c)}
}

// refused turns a refusal into a ConflictError. It resolves the lock that caused it
// if the lock's owner is dead; otherwise a transaction that only writes a cell would
// fail at that lock for ever.
func (t *Txn) refused(ctx context.Context, res store.Result) error {
	t.db.counters.Conflicts.Add(1)
	if res.Found == nil {
		return &ConflictError{Reason: "rolled back"}
	}
	f := *res.Found
	conflict := &ConflictError{Cell: Cell{Row: string(res.Row)}, By: f.TS}
	switch f.Group {
	case lockGroup:
		conflict.Reason = "locked"
		conflict.Cell.Column, _ = parseSideColumn(f.Column)
		if err := t.db.clearLock(ctx, string(res.Row), conflict.Cell.Column); err != nil {
			return fmt.Errorf("txn: commit: %w", err)
		}
	case readGroup:
		conflict.Reason = "read for update"
		conflict.Cell.Column, _ = parseSideColumn(f.Column)
	case ackGroup:
		conflict.Reason = "acknowledged"
		conflict.Cell.Column, _, _ = parseObserverColumn(f.Column)
	default:
		conflict.Reason = "written"
		if f.Column[0] == kindRollback {
			conflict.Reason = "rolled back"
		}
		conflict.Cell.Column = Column{f.Group, string(f.Column[1:])}
	}
	return conflict
}
