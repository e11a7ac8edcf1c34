package notify

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// A run whose transaction is too large is not tried again: the row goes to the dead
// letters at the first attempt, and everything else continues. A change of the row has it
// run again.
func TestTooLargeIsPermanent(t *testing.T) {
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			ctx := t.Context()
			table, err := mem.New(groups, mem.Options{Limits: store.Limits{MaxValueBytes: 2000, MaxBatchBytes: 8000}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = table.Close() })
			var alone atomic.Int32
			copying := watch(func(ctx context.Context, tx *txn.Txn, rows []string) error {
				for _, row := range rows {
					v, err := tx.Get(ctx, row, col("x"))
					if err != nil {
						return err
					}
					size := 10
					if string(v.Data) == "large" {
						size = 2001
						if len(rows) == 1 {
							alone.Add(1)
						}
					}
					tx.Set(row, col("y"), make([]byte, size))
				}
				return nil
			})
			copying.Batch = 4
			var cause error
			r := newRigMode(t, table, Options{Events: Events{Dead: func(_, _ string, err error) { cause = err }}}, mode, copying)
			s, err := NewStepper(ctx, r.p, r.db)
			if err != nil {
				t.Fatal(err)
			}
			drain := func() []DeadLetter {
				t.Helper()
				if err := s.Drain(ctx, nil); err != nil {
					t.Fatal(err)
				}
				letters, err := DeadLetters(ctx, r.db)
				if err != nil {
					t.Fatal(err)
				}
				return letters
			}
			for i := range 4 {
				r.set(fmt.Sprint("row", i), "x", "small")
			}
			r.set("row1", "x", "large")
			letters := drain()
			if len(letters) != 1 || letters[0].Row != "row1" || letters[0].Attempts != 1 || alone.Load() != 1 || !errors.Is(cause, txn.ErrTooLarge) {
				t.Errorf("letters %v after %d runs, because of %v", letters, alone.Load(), cause)
			}
			r.set("row1", "x", "small")
			if letters := drain(); len(letters) != 0 {
				t.Errorf("letters %v", letters)
			}
			r.close()
		})
	}
}
