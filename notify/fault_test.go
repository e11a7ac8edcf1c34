package notify

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store/faulty"
	"github.com/webindexer/indexer/txn"
)

// TestFaults lets each write to the table go wrong in turn. Whatever it is, the
// observers end up with what a direct computation has; and if the fault did not
// concern the loader, they have it without waiting for the slow safety net.
func TestFaults(t *testing.T) {
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		for _, fault := range []faulty.Fault{faulty.Fail, faulty.Lost, faulty.Late} {
			met := true
			for n := 1; met; n++ {
				synctest.Test(t, func(t *testing.T) {
					met = oneFault(t, mode, faulty.Plan{N: n, Kinds: faulty.Writes, Fault: fault, After: 2})
				})
				if t.Failed() {
					t.Fatalf("mode %v, write %d: %v", mode, n, fault)
				}
			}
		}
	}
}

func oneFault(t *testing.T, mode txn.Mode, plan faulty.Plan) (met bool) {
	table, probe := faulty.Wrap(openMem(t), plan)
	w := &words{t: t, rng: rand.New(rand.NewPCG(1, 1))}
	registry, err := NewRegistry(w.observers()...)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	p := New(registry, Options{Workers: 2})
	db, err := txn.Open(ctx, table, txn.Options{Mode: mode, Observers: registry.Observers, Handover: p.Handover})
	if err != nil {
		return true // it could not be opened: that is said
	}
	r := &rig{t, db, p, table}
	r.start()
	docs := map[string]string{"d/1": "aa ab", "d/2": "aa ba ba"}
	concerned := false
	for doc, text := range docs {
		for {
			_, err := db.Run(ctx, func(tx *txn.Txn) error { tx.Set(doc, col("text"), []byte(text)); return nil })
			if err == nil {
				break
			}
			concerned = true
		}
	}
	time.Sleep(time.Minute) // less than Rescan, more than all retries of one row
	if concerned {
		r.quiesce()
	}
	if have, want := r.totals(db.LastTimestamp()), wantTotals(docs); !maps.Equal(have, want) {
		t.Errorf("%v in write %d: observers have\n%v\nwant\n%v", plan.Fault, plan.N, have, want)
	}
	time.Sleep(6 * time.Minute) // a notification that was not removed is met by the net
	synctest.Wait()
	r.wantTotals(db.LastTimestamp(), docs)
	if letters, err := DeadLetters(ctx, db); err != nil || len(letters) > 0 {
		t.Errorf("dead letters %v, %v", letters, err)
	}
	r.close()
	return probe.Met()
}

// A row changes while a worker finds out that it needs no run, although the
// queue believed so: it has to be run for the change.
func TestAnsweredRowChanges(t *testing.T) {
	ctx := context.Background()
	saw := ""
	r := newRig(t, openMem(t), Options{}, watch(func(ctx context.Context, tx *txn.Txn, rows []string) error {
		v, err := tx.Get(ctx, rows[0], col("x"))
		saw += fmt.Sprintf("%s ", v.Data)
		return err
	}))
	s, err := NewStepper(ctx, r.p, r.db)
	if err != nil {
		t.Fatal(err)
	}
	r.set("a", "x", "one")
	stale, _, err := r.db.Notifications(ctx, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(ctx, nil); err != nil {
		t.Fatal(err)
	}
	r.p.queue.add(stale, true)
	batch := r.p.queue.pick(nil)
	r.set("a", "x", "two")
	r.p.run(ctx, batch)
	if n := r.p.Backlog(); n != 1 {
		t.Errorf("%d rows are waiting, want 1", n)
	}
	if err := s.Drain(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if saw != "one two " {
		t.Errorf("saw %q", saw)
	}
	r.close()
}
