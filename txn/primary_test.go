package txn

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
)

// refusingTable is a table that refuses to put write records, with an error.
type refusingTable struct {
	store.Table
	err    error
	happen bool // the refused mutation happens after all, at the next look-up of the lock
	late   func()
}

func (s *refusingTable) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if slices.ContainsFunc(m.Mutations, func(m store.Mutation) bool { return m.Column[0] == kindWrite }) {
		s.late = func() { _, _ = s.Table.Mutate(context.Background(), m) }
		return store.Result{}, s.err
	}
	if s.late != nil && s.happen {
		s.late()
		s.late = nil
	}
	return s.Table.Mutate(ctx, m)
}

// A commit point that cannot be written is given up, and leaves no lock: at once
// if it never will be, after a while if it may.
func TestCommitPointGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		err     error
		happen  bool
		atLeast time.Duration
	}{
		"too large":                    {err: store.ErrTooLarge},
		"no space":                     {err: store.ErrNoSpace, atLeast: finishTimeout},
		"happened before the aborting": {err: store.ErrNoSpace, happen: true, atLeast: finishTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := openMem(t, Groups("app"))
				defer closeTable(t, table)
				db := open(t, &refusingTable{Table: table, err: c.err, happen: c.happen}, Options{Mode: TwoPhase})
				defer db.Close()
				tx := mustBegin(t, db)
				tx.Set("row1", app("c"), nil)
				tx.Set("row2", app("c"), nil)
				began := time.Now()
				_, err := tx.Commit(context.Background())
				if c.happen != (err == nil) || err != nil && !errors.Is(err, c.err) || errors.Is(err, ErrUnknown) {
					t.Errorf("commit said %v", err)
				}
				if took := time.Since(began); took < c.atLeast || c.atLeast == 0 && took > 0 || took > 3*finishTimeout {
					t.Errorf("it took %v", took)
				}
				lines, err := readShown(table)
				if err != nil || len(lines) != 2 {
					t.Fatalf("%d cells, %v", len(lines), err)
				}
				for _, l := range lines {
					if l.text[showLock] != "" || c.happen == (l.text[showWrite] == "rolled back") {
						t.Errorf("%s at %d: %q", l.cell, l.ts, l.text)
					}
				}
			})
		})
	}
}

// A broken table stays broken until it is opened again, and the next process that opens
// it resolves the lock.
func TestCommitPointBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app"))
		defer closeTable(t, table)
		db := open(t, &refusingTable{Table: table, err: store.ErrBroken}, Options{Mode: TwoPhase})
		tx := mustBegin(t, db)
		tx.Set("row1", app("c"), nil)
		began := time.Now()
		if _, err := tx.Commit(context.Background()); !errors.Is(err, ErrUnknown) || !errors.Is(err, store.ErrBroken) {
			t.Errorf("commit said %v", err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// overtaken is a table in which another process rolls a transaction back just before its commit
// point.
type overtaken struct{ store.Table }

func (o overtaken) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if m.Require != nil && slices.ContainsFunc(m.Mutations, func(m store.Mutation) bool { return m.Column[0] == kindWrite }) {
		if err := applyRow(ctx, o.Table, m.Row, rollback(app("c"), m.Require.TS)...); err != nil {
			return store.Result{}, err
		}
	}
	return o.Table.Mutate(ctx, m)
}

// A transaction that others have rolled back at its commit point leaves no value and no lock: its
// owner lives, so nobody else would remove them soon.
func TestRolledBackAtTheCommitPoint(t *testing.T) {
	table := openMem(t, Groups("app"))
	defer closeTable(t, table)
	db := open(t, overtaken{table}, Options{Mode: TwoPhase})
	defer db.Close()
	db.gc.queue.on.Store(true)
	tx := mustBegin(t, db)
	for _, row := range []string{"row1", "row2", "row3"} {
		tx.Set(row, app("c"), make([]byte, 1000)) // in a data cell
	}
	if _, err := tx.Commit(t.Context()); !errors.Is(err, ErrConflict) {
		t.Errorf("commit said %v, want a conflict", err)
	}
	lines, err := readShown(table)
	if err != nil || len(lines) != 3 {
		t.Fatalf("%d cells, %v", len(lines), err)
	}
	for _, l := range lines {
		if l.text[showLock] != "" || l.text[showData] != "" || l.text[showWrite] != "rolled back" {
			t.Errorf("%s at %d: %q", l.cell, l.ts, l.text)
		}
	}
	if n := db.gc.queue.size(); n != 3 {
		t.Errorf("the collector is to visit %d cells, want 3", n)
	}
}
