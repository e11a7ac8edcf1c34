package frontier

import (
	"context"
	"testing"
	"time"

	"indexer/page"
	"indexer/schema"
	"indexer/store/mem"
	"indexer/txn"
)

// TestDueFromHead: a read from a head counts only if it gives all that was asked
// for; a URL before the head is found by any other.
func TestDueFromHead(t *testing.T) {
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
	head := add("/2", 2)
	add("/3", 3)
	add("/1", 1) // before the head
	for n, want := range map[int]string{1: "/2", 2: "/2", 3: "/1", 4: "/1"} {
		f.heads.found(host, head, time.Now(), time.Hour)
		jobs, _, err := f.Due(ctx, host, time.Now(), n)
		if err != nil || len(jobs) != min(n, 3) || jobs[0].URL.Path() != want {
			t.Errorf("%d jobs: %v, %v; want %d from %s on", n, jobs, err, min(n, 3), want)
		}
	}
}
