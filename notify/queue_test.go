package notify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/txn"
)

// model is the notify column: for each key, what the queue must not lose.
type model struct {
	clock   uint64
	pending map[key]uint64 // newest notification that no committed run has covered
}

// scan tells the queue what is in the table.
func (m *model) scan(q *queue) {
	q.clearOverflow()
	for k, ts := range m.pending {
		o := q.registry.list[k.observer]
		q.add([]txn.Notification{{Cell: txn.Cell{Row: k.row, Column: o.Watches}, Observer: o.Name, TS: ts}}, true)
	}
}

// TestQueueLosesNothing drives a queue through random histories of everything that
// can happen to it, next to a map of the pending work, and then works it
// off: at the end nothing may be left in the map, without any scan unless the queue
// says that it overflowed.
func TestQueueLosesNothing(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(100, 400, 4000))) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			if err := driveQueue(t, rng); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func driveQueue(t *testing.T, rng *rand.Rand) error {
	nop := func(context.Context, *txn.Txn, []string) error { return nil }
	registry, err := NewRegistry(
		Observer{Name: "a", Watches: col("x"), Run: nop, Batch: 1 + rng.IntN(4)},
		Observer{Name: "b", Watches: col("y"), Run: nop, Debounce: time.Duration(rng.IntN(3)) * time.Second, Upstream: []string{"a"}, Batch: 1 + rng.IntN(4), MaxOpen: rng.IntN(3)},
		Observer{Name: "c", Watches: col("x"), Run: nop, Debounce: time.Duration(rng.IntN(3)) * time.Second, IdleAfter: time.Duration(rng.IntN(2)) * 100 * time.Millisecond, Upstream: []string{"b"}, MaxOpen: rng.IntN(3), Spare: rng.IntN(2) == 0},
	)
	if err != nil {
		return err
	}
	q := newQueue(registry, 3+rng.IntN(12))
	m := &model{clock: 10, pending: make(map[key]uint64)}
	type run struct {
		batch []*entry
		start uint64
	}
	var runs []run
	end := func(i int, commit bool) {
		r := runs[i]
		runs = append(runs[:i], runs[i+1:]...)
		if !commit {
			for _, e := range r.batch {
				e.most = rng.IntN(3)
			}
			q.requeue(r.batch, time.Duration(rng.IntN(2000))*time.Millisecond)
			return
		}
		for _, e := range r.batch {
			e.covered = r.start
			if rng.IntN(4) == 0 { // the run asks for another one
				m.clock++
				o := registry.list[e.observer]
				m.pending[e.key] = m.clock
				q.add([]txn.Notification{{Cell: txn.Cell{Row: e.row, Column: o.Watches}, Observer: o.Name, TS: m.clock, Continues: true}}, false)
			}
			if m.pending[e.key] <= r.start {
				delete(m.pending, e.key)
			}
		}
		q.finished(r.batch)
	}
	begin := func(batch []*entry) {
		m.clock++
		runs = append(runs, run{batch, m.clock})
	}
	var withheld []txn.Notification
	tell := func() {
		if len(withheld) == 0 {
			return
		}
		i := rng.IntN(len(withheld))
		q.add(withheld[i:i+1], false)
		withheld = append(withheld[:i], withheld[i+1:]...)
	}
	for range 300 {
		switch rng.IntN(8) {
		case 0, 1: // a transaction commits; the handover comes later
			m.clock++
			k := key{rng.IntN(3), fmt.Sprint(rng.IntN(8))}
			o := registry.list[k.observer]
			withheld = append(withheld, txn.Notification{Cell: txn.Cell{Row: k.row, Column: o.Watches}, Observer: o.Name, TS: m.clock, Continues: rng.IntN(10) == 0, Deferrable: rng.IntN(2) == 0})
			m.pending[k] = m.clock
		case 2, 3:
			tell()
		case 4:
			q.mu.Lock()
			batch := q.take()
			if batch == nil && q.releaseSpare() {
				batch = q.take()
			}
			q.mu.Unlock()
			if batch != nil {
				begin(batch)
			}
		case 5, 6:
			if len(runs) > 0 {
				end(rng.IntN(len(runs)), rng.IntN(3) > 0)
			}
		case 7:
			time.Sleep(time.Duration(rng.IntN(500)) * time.Millisecond)
			q.release(time.Now())
			if q.overflow && rng.IntN(3) == 0 {
				m.scan(q)
			}
		}
		q.checkInvariants(t)
	}
	for len(withheld) > 0 {
		tell()
	}
	return workOff(t, q, m, begin, func() bool {
		if len(runs) == 0 {
			return false
		}
		end(0, true)
		return true
	})
}

// workOff ends all runs and makes those that the queue asks for. Only if it
// overflowed is it told what is in the table, as by a scan.
func workOff(t *testing.T, q *queue, m *model, begin func([]*entry), endOne func() bool) error {
	for range 10_000 {
		if endOne() {
			continue
		}
		q.release(time.Now())
		q.mu.Lock()
		batch, overflow, left := q.take(), q.overflow, len(q.entries)
		q.mu.Unlock()
		switch {
		case batch != nil:
			begin(batch)
		case left > 0: // all delayed: their time comes
			time.Sleep(100 * time.Millisecond)
		case overflow:
			m.scan(q)
		case len(m.pending) > 0:
			return fmt.Errorf("lost: %v", m.pending)
		default:
			q.checkInvariants(t)
			return nil
		}
	}
	return fmt.Errorf("no end; left to do: %v", m.pending)
}

// Rows come oldest first, and a row that is notified without end does not keep
// others waiting.
func TestOldestFirst(t *testing.T) {
	nop := func(context.Context, *txn.Txn, []string) error { return nil }
	registry, err := NewRegistry(Observer{Name: "a", Watches: col("x"), Run: nop}, Observer{Name: "b", Watches: col("y"), Run: nop})
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(registry, 100)
	add := func(observer string, column, row string, ts uint64) {
		q.add([]txn.Notification{{Cell: txn.Cell{Row: row, Column: col(column)}, Observer: observer, TS: ts}}, false)
	}
	add("a", "x", "busy", 1)
	add("b", "y", "waiting", 2)
	var order string
	for ts := uint64(3); ts < 6; ts++ {
		batch := q.take()
		add("a", "x", "busy", ts)
		order += batch[0].row + " "
		batch[0].covered = ts - 1
		q.finished(batch)
	}
	if want := "busy waiting busy "; order != want {
		t.Errorf("order %q, want %q", order, want)
	}
}

func TestRecentRunsForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nop := func(context.Context, *txn.Txn, []string) error { return nil }
		registry, err := NewRegistry(Observer{Name: "a", Watches: col("x"), Run: nop, Debounce: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		q := newQueue(registry, 50)
		for i := range 10_000 {
			q.noteRun(&entry{key: key{0, fmt.Sprint(i)}}, time.Now())
			time.Sleep(time.Millisecond)
		}
		r := &q.lastRuns[0]
		if n := len(r.young) + len(r.old); n > 100 {
			t.Errorf("%d rows remembered", n)
		}
		if _, ok := r.of("9999"); !ok {
			t.Error("the last run is forgotten")
		}
		if _, ok := r.of("0"); ok {
			t.Error("the first run is remembered")
		}
	})
}
