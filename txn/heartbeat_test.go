package txn

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
)

// TestHeartbeat: a commit that takes longer than the time to live of its locks renews its primary
// lock, so that others wait. After a transaction that did not wait has rolled it back, it does
// not lock the primary again.
func TestHeartbeat(t *testing.T) {
	const ttl = 3 * time.Second
	for _, rolledBack := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			table := openMem(t, Groups("app"))
			defer closeTable(t, table)
			primary := Cell{"a", app("c")}
			locks := func() []store.Cell {
				cells, err := table.Read(t.Context(), []byte(primary.Row), store.Selector{Group: lockGroup, Column: sideColumn(primary.Column)})
				if err != nil {
					t.Fatal(err)
				}
				return cells
			}
			var db *DB
			db = open(t, table, Options{Mode: TwoPhase, LockTTL: ttl, Step: func(name string, cell Cell) error {
				switch {
				case name == stepPrewritten && cell != primary:
					time.Sleep(ttl / 2)
				case name == stepPrewritten && rolledBack:
					return db.rollBack(t.Context(), primary, locks()[0].TS)
				case name == stepCommitPrimary:
					cells := locks()
					if len(cells) != 1 {
						t.Errorf("the primary has %d locks", len(cells))
					} else if l, err := decodeLock(cells[0]); err != nil || db.abandoned(t.Context(), l) {
						t.Errorf("the primary lock counts as abandoned: %v", err)
					}
				}
				return nil
			}})
			defer db.Close()
			tx := mustBegin(t, db)
			for _, row := range []string{"a", "b", "c", "d"} {
				tx.Set(row, app("c"), []byte("v"))
			}
			if _, err := tx.Commit(t.Context()); errors.Is(err, ErrConflict) != rolledBack || !rolledBack && err != nil {
				t.Errorf("rolled back %t: %v", rolledBack, err)
			}
			if n := len(locks()); n > 0 {
				t.Errorf("rolled back %t: %d locks are left", rolledBack, n)
			}
		})
	}
}
