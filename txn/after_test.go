package txn

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/webindexer/indexer/store"
)

// What is to happen after a commit happens once the transaction has committed, and not if it is
// rolled back, conflicts, or fails.
func TestAfterCommit(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		db := open(t, table, Options{Mode: mode})
		defer db.Close()
		ctx := context.Background()
		var calls []string
		begin := func(name string) *Txn {
			tx := mustBegin(t, db)
			tx.Set("row", app("v"), []byte(name))
			tx.AfterCommit(func() { calls = append(calls, name) })
			return tx
		}
		loser, winner, late := begin("loser"), begin("winner"), begin("rolled back")
		if _, err := winner.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := loser.Commit(ctx); !errors.Is(err, ErrConflict) {
			t.Errorf("the loser: %v", err)
		}
		late.Rollback()
		reader := mustBegin(t, db)
		reader.AfterCommit(func() { calls = append(calls, "reader") })
		reader.AfterCommit(func() { calls = append(calls, "reader again") })
		if _, err := reader.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		attempts := 0
		_, err := db.Run(ctx, func(tx *Txn) error {
			tx.AfterCommit(func() { calls = append(calls, "retried") })
			if _, err := tx.GetForUpdate(ctx, "row", app("v")); err != nil {
				return err
			}
			if attempts++; attempts == 1 {
				run(t, db, func(other *Txn) { other.Set("row", app("v"), nil) })
			}
			tx.Set("row", app("w"), nil)
			return nil
		})
		if got := fmt.Sprint(calls); err != nil || attempts != 2 || got != "[winner reader reader again retried]" {
			t.Errorf("after %d attempts: %v, called %s", attempts, err, got)
		}
	})
}
