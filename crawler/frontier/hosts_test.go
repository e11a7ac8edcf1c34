package frontier_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// countedCells counts the cells of the queues that scans read.
type countedCells struct {
	store.Table
	n int
}

func (c *countedCells) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	return c.Table.Scan(ctx, r, func(cell store.Cell) error {
		if r.Group == schema.GroupQueue {
			c.n++
		}
		return fn(cell)
	})
}

// TestHosts: a list of hosts has each of them once, however long their queues are. Short queues
// are read once, long ones are skipped.
func TestHosts(t *testing.T) {
	ctx := t.Context()
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counted := &countedCells{Table: table}
	db, err := txn.Open(ctx, counted, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	lengths := map[int]int{10: 63, 11: 64, 12: 65, 20: 200, 99: 70, 150: 5000, 299: 64}
	var want []string
	for i := range 300 {
		host := fmt.Sprintf("https://h%03d.example", i)
		want = append(want, host)
		if _, err := db.Run(ctx, func(tx *txn.Txn) error {
			for p := range max(lengths[i], 1) {
				u := page.MustParseURL(fmt.Sprintf("%s/%d", host, p))
				tx.Create(schema.QueueRow(host, u, schema.FrontierEntry{}), schema.Queued, nil)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	front := frontier.New(db, nil, nil, nil)
	for _, n := range []int{1, 10, 100, 1000} {
		counted.n = 0
		var got []string
		for after := ""; ; after = got[len(got)-1] {
			list, err := front.Hosts(ctx, after, n)
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, list...); len(list) < n {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %d: %d hosts, not %d: %v", n, len(got), len(want), got)
		}
		if n >= 100 && counted.n > 6000 {
			t.Errorf("by %d: %d cells were read", n, counted.n)
		}
	}
}
