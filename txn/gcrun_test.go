package txn

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/store"
)

// hungTable is a table that no longer answers writes.
type hungTable struct {
	store.Table
	on bool
}

func (h *hungTable) Apply(ctx context.Context, rows []store.RowMutation) error {
	if h.on {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.Table.Apply(ctx, rows)
}

// TestStopOfAHungTable: a collector that cannot say in time that nothing is left has only left
// work to the next one.
func TestStopOfAHungTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &hungTable{Table: openMem(t, Groups("app"))}
		defer closeTable(t, table)
		db := open(t, table, Options{Mode: TwoPhase})
		c, err := db.NewCollector(t.Context(), CollectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		table.on = true
		if err := c.Stop(t.Context()); err != nil {
			t.Errorf("Stop: %v", err)
		}
		table.on = false
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
