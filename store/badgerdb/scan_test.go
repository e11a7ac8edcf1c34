package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/webindexer/indexer/store"
)

// endsSoon is a context that has ended when it is asked for the second time.
type endsSoon struct {
	context.Context
	asked int
}

func (c *endsSoon) Err() error {
	if c.asked++; c.asked > 1 {
		return context.Canceled
	}
	return nil
}

// TestScanOfNothingEnds: the end of the context also ends a scan that steps over all cells.
func TestScanOfNothingEnds(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{})
	defer closeTest(t, db)
	var rows []store.RowMutation
	for i := range 2 * ctxEvery {
		rows = append(rows, store.RowMutation{Row: fmt.Append(nil, "row", i), Mutations: []store.Mutation{mutation("data", "c", 1, "v"), mutation("last", "c", 1, "v")}})
	}
	if err := db.Apply(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	for _, rg := range []store.Range{{Group: "data", MinTS: 2}, {Group: "last", MinTS: 2}, {Group: "data", ColumnPrefix: []byte("d")}} {
		_, err := db.Scan(&endsSoon{Context: t.Context()}, rg, func(store.Cell) error { return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v", rg, err)
		}
	}
}
