package store_test

import (
	"context"
	"fmt"
	"log"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// A table keeps versions of cells. A guarded mutation of a row happens, or it says
// which cell stood in its way; that is all that transactions are built on.
func Example() {
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	table, err := mem.New([]store.GroupSpec{{Name: "contents"}, {Name: "locks", Latest: true}}, mem.Options{})
	must(err)

	put := func(ts uint64, html string) store.Mutation {
		return store.Mutation{Op: store.Put, Group: "contents", Column: []byte("html"), TS: ts, Value: []byte(html)}
	}
	row := []byte("org.example/")
	must(table.Apply(ctx, []store.RowMutation{{Row: row, Mutations: []store.Mutation{put(3, "<p>old"), put(7, "<p>new")}}}))

	// Write at 5, unless there is a write at 5 or later.
	res, err := table.Mutate(ctx, store.RowMutation{
		Row:       row,
		Absent:    []store.Selector{{Group: "contents", Column: []byte("html"), MinTS: 5}},
		Mutations: []store.Mutation{put(5, "<p>late")},
	})
	must(err)
	fmt.Printf("%v: there is a cell at %d\n", res.Outcome, res.Found.TS)

	// What a reader at 6 sees.
	cells, err := table.Read(ctx, row, store.Selector{Group: "contents", Column: []byte("html"), MaxTS: 6, Newest: 1})
	must(err)
	for _, c := range cells {
		fmt.Printf("%s %s@%d = %s\n", c.Row, c.Column, c.TS, c.Value)
	}
	must(table.Close())
	// Output:
	// refused: there is a cell at 7
	// org.example/ html@3 = <p>old
}
