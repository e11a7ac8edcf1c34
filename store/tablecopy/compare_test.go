package tablecopy

import (
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestCompare: a copy that differs in anything is not taken for a good one, even if it has as many cells
// and bytes.
func TestCompare(t *testing.T) {
	type cell struct {
		row, column, value string
		ts                 uint64
	}
	table := func(c cell) store.Table {
		table := openMem(t)
		err := table.Apply(t.Context(), []store.RowMutation{{Row: []byte(c.row), Mutations: []store.Mutation{
			{Group: "app", Column: []byte(c.column), TS: c.ts, Value: []byte(c.value)},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	original := cell{"row", "column", "value", 7}
	for _, other := range []cell{
		original,
		{"raw", "column", "value", 7}, {"row", "colour", "value", 7}, {"row", "column", "valet", 7}, {"row", "column", "value", 8},
		{"rowc", "olumn", "value", 7}, {"row", "columnv", "alue", 7}, {"row", "column", "values", 7},
	} {
		c := &copying{from: table(original), to: table(other), opts: Options{Group: "meta"}}
		if _, err := c.compare(t.Context()); (err == nil) != (other == original) {
			t.Errorf("%v beside %v: %v", other, original, err)
		}
	}
}
