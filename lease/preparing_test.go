package lease

import (
	"context"
	"testing"

	"github.com/webindexer/indexer/txn"
)

// TestPreparing: the table names a process as the holder of a lease before it is ready for the work.
func TestPreparing(t *testing.T) {
	f := newFleet(t)
	m, other := f.join(Options{}), f.join(Options{})
	holder := func() (h *Holder) {
		err := m.db.View(t.Context(), func(tx *txn.Txn) (err error) {
			h, err = HolderOf(t.Context(), tx, "x")
			return err
		})
		if err != nil || h == nil {
			t.Fatalf("the holder is %v, %v", h, err)
		}
		return h
	}
	gained := func(context.Context) error {
		if h := holder(); !m.Preparing("x", h) || other.Preparing("x", h) {
			t.Error("the holder is not preparing, or another process is")
		}
		return nil
	}
	if taken, err := m.Take(t.Context(), Want{Name: "x", Gained: gained}); err != nil || !taken {
		t.Fatalf("taken: %t, %v", taken, err)
	}
	if m.Preparing("x", holder()) {
		t.Error("the holder is still preparing")
	}
}
