package frontier

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

func TestFrontCache(t *testing.T) {
	var h frontCache
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	expect := func(at time.Duration, want string) {
		t.Helper()
		if got := h.get("a", now.Add(at)); got != want {
			t.Errorf("after %v: front %q, want %q", at, got, want)
		}
	}
	expect(0, "")
	h.found("a", "row5", now, frontWorth-1) // not worth it
	expect(0, "")
	h.found("a", "row5", now, 100*time.Millisecond)
	expect(0, "row5")
	expect(2*time.Second-1, "row5")
	expect(2*time.Second, "")
	h.moved("a", "row3") // never back
	expect(0, "row5")
	h.moved("a", "row7") // for no longer than before
	expect(0, "row7")
	expect(2*time.Second, "")
	h.found("a", "row1", now, time.Hour) // for no longer than the longest
	expect(frontLongest-1, "row1")
	expect(frontLongest, "")
	h.found("a", "", now, time.Hour) // the queue is empty
	expect(0, "")
	for i := range 2 * maxFronts {
		h.found(fmt.Sprint(i), "row", now, time.Second)
		if len(h.of) > maxFronts {
			t.Fatalf("%d fronts are kept", len(h.of))
		}
	}
}

// TestDueFromFront: a read from the cached front counts only if it finds all jobs that
// were asked for; every other read finds a URL before it.
func TestDueFromFront(t *testing.T) {
	ctx := context.Background()
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := txn.Open(ctx, table, txn.Options{Observers: func(txn.Column) []string { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	f := New(db, nil, &Crawl{}, nil)
	const host = "https://a.example"
	add := func(path string, depth int) string {
		t.Helper()
		u, e := page.URL(host+path), schema.FrontierEntry{Depth: depth}
		if _, err := db.Run(ctx, func(tx *txn.Txn) error { put(tx, u, nil, e); return nil }); err != nil {
			t.Fatal(err)
		}
		return schema.QueueRow(host, u, e)
	}
	cached := add("/2", 2)
	add("/3", 3)
	add("/1", 1) // before the cached front
	for n, want := range map[int]string{1: "/2", 2: "/2", 3: "/1", 4: "/1"} {
		f.fronts.found(host, cached, time.Now(), time.Hour)
		jobs, _, err := f.Due(ctx, host, time.Now(), n)
		if err != nil || len(jobs) != min(n, 3) || jobs[0].URL.Path() != want {
			t.Errorf("%d jobs: %v, %v; want %d from %s on", n, jobs, err, min(n, 3), want)
		}
	}
}
