package notify

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// brokenTable is a table of an engine whose disk becomes full during a commit.
type brokenTable struct {
	table
	broken bool
}

func (b *brokenTable) Commit(ctx context.Context, rows []store.RowMutation) (uint64, store.Result, error) {
	if !b.broken {
		return b.table.Commit(ctx, rows)
	}
	return 0, store.Result{}, fmt.Errorf("%w: %w", store.ErrBroken, store.ErrNoSpace)
}

// TestBrokenTable: a commit that breaks the table has an unknown outcome. It still
// stops the pipeline, because running the row again would not help.
func TestBrokenTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &brokenTable{table: openMem(t).(table)}
		r := newRig(t, b, Options{Workers: 1}, Observer{Name: "o", Watches: col("x"), Run: func(_ context.Context, tx *txn.Txn, rows []string) error {
			tx.Set(rows[0], col("y"), nil)
			b.broken = true
			return nil
		}}).start()
		r.set("row", "x", "v")
		synctest.Wait()
		if err := r.p.Ready(); !errors.Is(err, txn.ErrUnknown) || !errors.Is(err, store.ErrNoSpace) {
			t.Errorf("Ready = %v, want the failure of the commit", err)
		}
		b.broken = false
		if err := r.p.Stop(); !errors.Is(err, store.ErrNoSpace) {
			t.Errorf("Stop = %v", err)
		}
		if err := r.db.Close(); err != nil {
			t.Error(err)
		}
	})
}
