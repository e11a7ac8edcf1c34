package txn

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/store"
)

// TestContextEndsAnywhere: the context of a commit in two phases ends before or after any call of the
// table. The transaction happens completely or not at all, as it says, and leaves no lock.
func TestContextEndsAnywhere(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; endsAt(t, n, after); n++ {
		}
	}
}

// endsAt ends the context at the n-th call. It reports false if there are not so many.
func endsAt(t *testing.T, n int, after bool) bool {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	table := &ending{Table: sharedTable(t), cancel: cancel, after: after}
	db, _ := openShared(t, table, sharedtest.New(), Options{Observers: func(c Column) []string {
		if c.Name == "watched" {
			return []string{"o"}
		}
		return nil
	}})
	trigger := Cell{"row 0", app("watched")}
	sent, err := db.Run(t.Context(), func(tx *Txn) error { tx.Set(trigger.Row, trigger.Column, nil); return nil })
	if err != nil {
		t.Fatal(err)
	}
	tx := mustBegin(t, db)
	tx.AddTrigger(Trigger{Cell: trigger, Observer: "o", TS: sent, Strong: true})
	for i := range 4 {
		tx.Set(fmt.Sprint("row ", i), app("c"), make([]byte, 100*i)) // in the write record, or apart from it
	}
	tx.Set("row 1", app("watched"), nil)
	tx.lockForUpdate(Cell{"row 9", app("c")})
	table.left.Store(int64(n))
	_, err = tx.Commit(ctx)
	more := table.left.Swap(0) <= 0

	reader := mustBegin(t, db)
	defer reader.Rollback()
	seen := 0
	for i := range 4 {
		v, rerr := reader.Get(t.Context(), fmt.Sprint("row ", i), app("c"))
		if rerr != nil {
			t.Error(rerr)
		}
		if v.Exists {
			seen++
		}
	}
	ack, aerr := reader.Acknowledged(t.Context(), trigger, "o")
	want := 4
	if err != nil {
		want = 0
	}
	if seen != want || (ack != 0) != (err == nil) || aerr != nil || errors.Is(err, ErrUnknown) {
		t.Errorf("call %d, after it %t: %v; %d of 4 cells, acknowledged at %d, %v", n, after, err, seen, ack, aerr)
	}
	if err := db.eachLock(t.Context(), store.MaxTS, func(c store.Cell) error { return fmt.Errorf("row %q is locked", c.Row) }); err != nil {
		t.Errorf("call %d, after it %t: %v", n, after, err)
	}
	return more
}

// ending is a table at which a context ends.
type ending struct {
	store.Table
	cancel func()
	after  bool
	left   atomic.Int64 // calls until then
}

// call counts a call, and returns what to do after it.
func (s *ending) call() func() {
	nothing := func() {}
	switch {
	case s.left.Add(-1) != 0:
	case s.after:
		return s.cancel
	default:
		s.cancel()
	}
	return nothing
}

func (s *ending) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	defer s.call()()
	return s.Table.Read(ctx, row, sel...)
}

func (s *ending) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	defer s.call()()
	return s.Table.Mutate(ctx, m)
}

func (s *ending) Apply(ctx context.Context, rows []store.RowMutation) error {
	defer s.call()()
	return s.Table.Apply(ctx, rows)
}
