package txn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/webindexer/indexer/store"
)

// What is to happen after a commit happens once the transaction has committed, and not if it is
// rolled back, conflicts, or fails. The same holds for Options.Written.
func TestAfterCommit(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		var calls []string
		written := make(map[uint64]int)
		db := open(t, table, Options{Mode: mode, Written: func(commit uint64, cells iter.Seq[Cell]) {
			for range cells {
				written[commit]++
			}
		}})
		defer db.Close()
		ctx := context.Background()
		begin := func(name string) *Txn {
			tx := mustBegin(t, db)
			tx.Set("row", app("v"), []byte(name))
			tx.AfterCommit(func() { calls = append(calls, name) })
			return tx
		}
		loser, winner, late := begin("loser"), begin("winner"), begin("rolled back")
		first, err := winner.Commit(ctx)
		if err != nil {
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
		last, err := db.Run(ctx, func(tx *Txn) error {
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
		if len(written) != 3 || written[first] != 1 || written[last] != 1 {
			t.Errorf("told of cells written by %v, want one by %d, one by %d, and one between", written, first, last)
		}
	})
}
