package txn

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestPublicationsInOrder: a reader of the past begins while its process is about to publish a bound.
// Once the reader has published its own timestamp, no greater bound replaces it.
func TestPublicationsInOrder(t *testing.T) {
	for range 20 {
		table, o := sharedTable(t), &office{}
		db, _ := openShared(t, table, o, Options{})
		past := setC(t, db, "one")
		setC(t, db, "two")
		publishAll(t, db)
		done := make(chan error)
		db.published.mu.Lock()
		go func() { done <- db.publishReaders(t.Context()) }()
		for range 1000 { // until it waits for the mutex
			runtime.Gosched()
		}
		tx := db.At(past)
		db.published.mu.Unlock()
		wantValue(t, tx, "one")
		if err := <-done; err != nil {
			t.Error(err)
		}
		cells, err := table.Read(t.Context(), db.boundRow(), store.Selector{Group: metaGroup, Prefix: true})
		if err != nil || len(cells) != 1 {
			t.Fatal(cells, err)
		}
		if bound := binary.BigEndian.Uint64(cells[0].Value); bound > past {
			t.Fatalf("a reader at %d began, and the bound is %d", past, bound)
		}
		tx.Rollback()
	}
}
