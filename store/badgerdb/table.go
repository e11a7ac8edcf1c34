package badgerdb

import (
	"context"

	"github.com/webindexer/indexer/store"
)

var (
	_ store.Table       = (*DB)(nil)
	_ store.Snapshotter = (*DB)(nil)
	_ store.Committer   = (*DB)(nil)
)

// Limits implements store.Table. Of a batch, every mutation counts 100 bytes more
// than its row, column and value.
func (db *DB) Limits() store.Limits { return limits }

// Groups implements store.Table.
func (db *DB) Groups() []store.GroupSpec { return db.schema.Specs() }

// Read implements store.Reader. The cells share the slice of their row.
func (db *DB) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.gate.Leave()
	v := db.views.acquire()
	defer db.views.release(v)
	return v.read(ctx, row, sel)
}

// Scan implements store.Reader. It sees the whole range at one instant, and holds
// back the reclaiming of space until it returns.
func (db *DB) Scan(ctx context.Context, rg store.Range, fn func(store.Cell) error) ([]byte, error) {
	if err := db.enter(ctx); err != nil {
		return nil, err
	}
	defer db.gate.Leave()
	v := db.views.acquire()
	defer db.views.release(v)
	met := false
	next, err := v.scan(ctx, rg, false, func(c store.Cell) error {
		met = true
		return fn(c)
	})
	if err == nil && !met {
		db.noteEmpty(&rg, v.seq)
	}
	return next, err
}

// Mutate implements store.Table. If the context ends before the write begins,
// the write is withdrawn and nothing happens. Later the context has no effect
// on the call.
func (db *DB) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if err := db.enter(ctx); err != nil {
		return store.Result{}, err
	}
	defer db.gate.Leave()
	if err := db.checker.Row(&m); err != nil {
		return store.Result{}, err
	}
	r := &request{rows: []store.RowMutation{m}}
	err := db.submit(ctx, r)
	return outcome(r, err)
}

// Commit implements store.Committer; contexts as with Mutate.
func (db *DB) Commit(ctx context.Context, rows []store.RowMutation) (uint64, store.Result, error) {
	if err := db.enter(ctx); err != nil {
		return 0, store.Result{}, err
	}
	defer db.gate.Leave()
	if err := db.checker.Commit(rows); err != nil {
		return 0, store.Result{}, err
	}
	r := &request{rows: rows, commit: true}
	res, err := outcome(r, db.submit(ctx, r))
	if res.Outcome != store.Applied {
		return 0, res, err
	}
	return r.commitTS, res, nil
}

// outcome reads the answer. After an error from submit the request may still be in the
// queue (withdrawn), but the committer does not write to it.
func outcome(r *request, err error) (store.Result, error) {
	if err != nil {
		return store.Result{Outcome: store.Unknown}, err
	}
	return r.result, nil
}

// UseClock implements store.Committer.
func (db *DB) UseClock(clock store.Clock) { db.committer.clock.Store(&clock) }

// Apply implements store.Table. Rows are written in order, in parts of a few MiB;
// after an error a first part of them may have been written.
func (db *DB) Apply(ctx context.Context, rows []store.RowMutation) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	if err := db.checker.Apply(rows); err != nil {
		return err
	}
	for len(rows) > 0 {
		n := db.part(rows)
		if err := db.submit(ctx, &request{rows: rows[:n]}); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// part is how many of the rows go into one request: at least one.
func (db *DB) part(rows []store.RowMutation) int {
	size := 0
	for i := range rows {
		size += db.checker.Size(&rows[i])
		if i > 0 && size > db.sizes.softGroup/2 {
			return i
		}
	}
	return len(rows)
}

func (db *DB) enter(ctx context.Context) error {
	if err := db.verify.damage(); err != nil {
		return err
	}
	return db.gate.Enter(ctx)
}
