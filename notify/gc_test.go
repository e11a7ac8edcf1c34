package notify

import (
	"context"
	"testing"

	"github.com/webindexer/indexer/txn"
)

// An acknowledgement is removed when its cell is gone and no worker has the row: not while an
// observer runs on it, because its commit would no longer be refused, and not while the row
// waits in the queue, because then a second run would not be refused.
func TestAcknowledgementsAreCollected(t *testing.T) {
	running, goOn := make(chan struct{}), make(chan struct{})
	block := false
	r := newRig(t, openMem(t), Options{Workers: 1}, Observer{Name: "o", Watches: col("x"), Run: func(context.Context, *txn.Txn, []string) error {
		if block {
			running <- struct{}{}
			<-goOn
		}
		return nil
	}}).start()
	resume := func() {
		block = false // the worker reads it after goOn
		goOn <- struct{}{}
		r.quiesce()
	}
	r.set("gone", "x", "v")
	r.set("here", "x", "v")
	r.quiesce()
	if got := r.acknowledged(); len(got) != 2 {
		t.Fatalf("acknowledgements of %v, want both: their cells are there", got)
	}
	block = true
	deleted, err := r.db.Run(t.Context(), func(tx *txn.Txn) error { tx.Delete("gone", col("x")); return nil })
	if err != nil {
		t.Fatal(err)
	}
	<-running
	if q := r.p.queue; !q.has("gone", "o") || q.has("here", "o") || q.has("gone", "nobody") {
		t.Error("the queue does not know what it has in hand")
	}
	if got := r.acknowledged(); len(got) != 2 {
		t.Errorf("acknowledgements of %v, want both: one is run on", got)
	}
	resume()
	block = true
	r.set("here", "x", "w")
	<-running // so the only worker leaves in the queue what a scan read before the run above
	r.p.queue.add([]txn.Notification{{Cell: txn.Cell{Row: "gone", Column: col("x")}, Observer: "o", TS: deleted}}, true)
	if got := r.acknowledged(); len(got) != 2 {
		t.Errorf("acknowledgements of %v, want both: a row waits", got)
	}
	resume()
	if got := r.acknowledged(); len(got) != 1 || got[0] != "here" {
		t.Errorf("acknowledgements of %v, want that of the cell that is there", got)
	}
	r.close()
}

// acknowledged collects garbage, and returns the rows that still have an acknowledgement.
func (r *rig) acknowledged() (rows []string) {
	r.t.Helper()
	if _, err := r.db.Collect(context.Background(), txn.CollectOptions{Queue: r.p}); err != nil {
		r.t.Fatal(err)
	}
	err := r.db.Records(context.Background(), txn.AckGroup, "", "", func(record txn.Record) error {
		rows = append(rows, record.Cell.Row)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return rows
}
