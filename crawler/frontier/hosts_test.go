package frontier_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/crawler/scope"
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

// newCounted returns an empty table that counts the cells of queues that are read.
func newCounted(t *testing.T) (*txn.DB, *countedCells) {
	t.Helper()
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	counted := &countedCells{Table: table}
	db, err := txn.Open(t.Context(), counted, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, counted
}

// queue puts new URLs into the queue of a host.
func queue(t *testing.T, db *txn.DB, host string, urls int) {
	t.Helper()
	if _, err := db.Run(t.Context(), func(tx *txn.Txn) error {
		for i := range urls {
			u, e := page.MustParseURL(fmt.Sprintf("%s/%d", host, i)), schema.FrontierEntry{}
			tx.Create(schema.QueueRow(host, u, e), schema.Queued, nil)
			tx.Set(schema.URLRow(u), schema.Entry, e.Encode())
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestHosts: a list of hosts has each of them once, however long their queues are. Short queues
// are read once, long ones are skipped.
func TestHosts(t *testing.T) {
	ctx := t.Context()
	db, counted := newCounted(t)
	lengths := map[int]int{10: 63, 11: 64, 12: 65, 20: 200, 99: 70, 150: 5000, 299: 64}
	var want []string
	for i := range 300 {
		host := fmt.Sprintf("https://h%03d.example", i)
		want = append(want, host)
		queue(t, db, host, max(lengths[i], 1))
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

// refusing is a Decider whose settings take no URL.
type refusing struct{ frontier.Decider }

func (refusing) Accepts(page.URL, int, bool) (scope.Decision, bool) {
	return scope.Decision{Rule: "scope.exclude", Why: "matches"}, false
}

func (refusing) Follow(context.Context, *txn.Txn) (bool, error) { return true, nil }

func (refusing) PagesPerHost() int { return 0 }

// TestLongQueueLapses: a queue of which nothing stays is read a few times, and not once for each
// transaction.
func TestLongQueueLapses(t *testing.T) {
	const urls = 5000
	db, counted := newCounted(t)
	queue(t, db, "https://a.example", urls)
	jobs, _, err := frontier.New(db, nil, refusing{}, nil).Due(t.Context(), "https://a.example", time.Now(), 16)
	if err != nil || len(jobs) > 0 || counted.n > 5*urls {
		t.Errorf("%d jobs, %v, after %d cells", len(jobs), err, counted.n)
	}
}
