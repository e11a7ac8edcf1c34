package notify

import (
	"context"
	"testing"

	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// An acknowledgement is removed when its cell is gone and no worker has the row: not
// while an observer runs on it, because its commit would no longer be refused.
func TestAcknowledgementsAreCollected(t *testing.T) {
	ctx := context.Background()
	watched := txn.Column{Group: "app", Name: "c"}
	running, goOn := make(chan struct{}), make(chan struct{})
	block := false
	registry, err := NewRegistry(Observer{Name: "o", Watches: watched, Run: func(context.Context, *txn.Txn, []string) error {
		if block {
			running <- struct{}{}
			<-goOn
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := mem.New(txn.Groups("app", DeadGroup), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := New(registry, Options{Workers: 1})
	db, err := txn.Open(ctx, table, txn.Options{Observers: registry.Observers, Handover: p.Handover})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(ctx, db); err != nil {
		t.Fatal(err)
	}
	write := func(row string, gone bool) {
		t.Helper()
		_, err := db.Run(ctx, func(tx *txn.Txn) error {
			if gone {
				tx.Delete(row, watched)
			} else {
				tx.Set(row, watched, []byte("v"))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	quiesce := func() {
		t.Helper()
		if _, err := p.Quiesce(ctx); err != nil {
			t.Fatal(err)
		}
	}
	acks := func() (rows []string) {
		t.Helper()
		if _, err := db.Collect(ctx, txn.CollectOptions{Queue: p}); err != nil {
			t.Fatal(err)
		}
		err := db.Records(ctx, txn.AckGroup, "", "", func(r txn.Record) error {
			rows = append(rows, r.Cell.Row)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	for _, row := range []string{"gone", "here"} {
		write(row, false)
	}
	quiesce()
	if got := acks(); len(got) != 2 {
		t.Fatalf("acknowledgements of %v, want both: their cells are there", got)
	}
	block = true
	write("gone", true)
	<-running
	if !p.queue.has("gone", "o") || p.queue.has("here", "o") || p.queue.has("gone", "nobody") {
		t.Error("the queue does not know what it has in hand")
	}
	if got := acks(); len(got) != 2 {
		t.Errorf("acknowledgements of %v, want both: one is run on", got)
	}
	block = false // the worker reads it after goOn
	goOn <- struct{}{}
	quiesce()
	if got := acks(); len(got) != 1 || got[0] != "here" {
		t.Errorf("acknowledgements of %v, want that of the cell that is there", got)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}
