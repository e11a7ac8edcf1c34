package txn

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/webindexer/indexer/store"
)

// TestReadLocksAreKept: a collection leaves the record of a read for update that an open transaction
// conflicts with, also while a history keeps everything and there is no safe point yet.
func TestReadLocksAreKept(t *testing.T) {
	for name, history := range map[string]time.Duration{"later than the safe point": 0, "no safe point": time.Hour} {
		t.Run(name, func(t *testing.T) {
			eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
				db := open(t, table, Options{Mode: mode, History: history})
				defer db.Close()
				writer := mustBegin(t, db)
				defer writer.Rollback()
				run(t, db, func(tx *Txn) {
					if _, err := tx.GetForUpdate(t.Context(), "row", app("c")); err != nil {
						t.Error(err)
					}
				})
				got, err := db.Collect(t.Context(), CollectOptions{})
				if err != nil || got.Reads != 0 || (got.SafePoint == 0) != (history > 0) {
					t.Errorf("collected %+v, %v", got, err)
				}
				writer.Set("row", app("c"), nil)
				if _, err := writer.Commit(t.Context()); !errors.Is(err, ErrConflict) {
					t.Errorf("the write: %v, want a conflict", err)
				}
			})
		})
	}
}

// TestReadLocksAreCollected: a collection removes all records of reads for update that nobody
// conflicts with, and counts them.
func TestReadLocksAreCollected(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		db := open(t, table, Options{Mode: mode})
		defer db.Close()
		const cells = scanPage + 1 // more than are read at a time
		run(t, db, func(tx *Txn) {
			for i := range cells {
				if _, err := tx.GetForUpdate(t.Context(), fmt.Sprint("row", i), app("c")); err != nil {
					t.Error(err)
				}
			}
		})
		mustBegin(t, db).Rollback() // the safe point may now pass the records
		for _, want := range []int{cells, 0} {
			if got, err := db.Collect(t.Context(), CollectOptions{}); err != nil || got.Reads != want {
				t.Errorf("%d of %d records were collected, %v", got.Reads, want, err)
			}
		}
	})
}
