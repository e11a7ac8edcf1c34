package frontier

import (
	"context"
	"fmt"
	"testing"

	"github.com/webindexer/indexer/crawler/scope"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// TestKnownCache: a URL is skipped at the depth of its entry and below it; a waiting
// one is weighed again when its links have quadrupled.
func TestKnownCache(t *testing.T) {
	var c knownCache
	if c.covers("https://a.example/", 5) {
		t.Error("an unknown URL is skipped")
	}
	c.learn("https://a.example/", &schema.FrontierEntry{Depth: 3, State: schema.EntryDone, Visits: 1})
	for depth, want := range []bool{false, false, false, true, true} {
		if got := c.covers("https://a.example/", depth); got != want {
			t.Errorf("known at depth 3, found at %d: skipped %v", depth, got)
		}
	}
	// Transactions that began earlier may learn later.
	c.learn("https://a.example/", &schema.FrontierEntry{Depth: 1, State: schema.EntryDone, Visits: 1})
	c.learn("https://a.example/", &schema.FrontierEntry{Depth: 3, State: schema.EntryDone, Visits: 1})
	if !c.covers("https://a.example/", 1) {
		t.Error("a depth has risen")
	}
	waiting := &schema.FrontierEntry{Depth: 2, State: schema.EntryWaiting}
	c.learn("https://a.example/next", waiting)
	var looked []int
	for link := 2; link <= 70; link++ {
		if !c.covers("https://a.example/next", 2) {
			looked = append(looked, link)
			c.learn("https://a.example/next", waiting)
		}
	}
	if fmt.Sprint(looked) != "[4 16 64]" {
		t.Errorf("a URL that waits was weighed again for links %v", looked)
	}
}

// TestKnownCacheBounded: the cache has two halves at most, and keeps what is looked up.
func TestKnownCacheBounded(t *testing.T) {
	var c knownCache
	const often = page.URL("https://a.example/")
	c.learn(often, &schema.FrontierEntry{State: schema.EntryDone})
	for i := range 3 * MaxKnown {
		c.learn(page.URL(fmt.Sprintf("https://a.example/%d", i)), &schema.FrontierEntry{State: schema.EntryDone})
		if i%(MaxKnown/4) == 0 && !c.covers(often, 0) {
			t.Fatalf("after %d other URLs, one that is looked up was dropped", i)
		}
	}
	if n := len(c.young) + len(c.old); n > MaxKnown {
		t.Errorf("the cache has %d URLs, more than %d", n, MaxKnown)
	}
}

type everything struct{}

func (everything) Decide(context.Context, page.URL, int) (scope.Decision, error) {
	return scope.Decision{OK: true}, nil
}
func (everything) DecideResource(context.Context, page.URL) (scope.Decision, error) {
	return scope.Decision{OK: true}, nil
}
func (everything) Accepts(page.URL, int, bool) (scope.Decision, bool) {
	return scope.Decision{}, true
}
func (everything) PagesPerHost() int { return 0 }

func (everything) Follow(context.Context, *txn.Txn) (bool, error) { return true, nil }
func (everything) Rank(context.Context, *txn.Txn, page.URL) (float64, error) {
	return 1, nil
}

// TestKnownCacheRollback: what a transaction adds is known to others only once it is
// committed. Otherwise a URL that it found would never be fetched.
func TestKnownCacheRollback(t *testing.T) {
	ctx := t.Context()
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := txn.Open(ctx, table, txn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var known knownCache
	const u = page.URL("https://a.example/new")
	offer := func(tx *txn.Txn) (added int) {
		t.Helper()
		o := offers{tx, everything{}, newParameters(tx), &known}
		for range 5 { // later ones read what the first has written
			fresh, err := o.offer(ctx, finding{url: u})
			if err != nil {
				t.Fatal(err)
			}
			if fresh != "" {
				added++
			}
		}
		return added
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n := offer(tx); n != 1 {
		t.Errorf("a new URL was added %d times", n)
	}
	tx.Rollback()
	for i, want := range []int{1, 0} {
		_, err := db.Run(ctx, func(tx *txn.Txn) error {
			if n := offer(tx); n != want {
				t.Errorf("in transaction %d after the rollback, the URL was added %d times, not %d", i+1, n, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !known.covers(u, 0) {
		t.Error("a committed URL that was read is not known")
	}
}

// TestResourcesStay: the crawl may leave out pages that differ in a parameter only, but not
// resources.
func TestResourcesStay(t *testing.T) {
	e := schema.FrontierEntry{State: schema.EntryWaiting, Depth: 1}
	if !mayLapse(&e) {
		t.Error("a page that waits may not lapse")
	}
	if e.Resource = true; mayLapse(&e) {
		t.Error("a resource may lapse")
	}
}
