package notify

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/store/postgres"
	"github.com/webindexer/indexer/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main{M: m}) }

// col is a column of the group that the tests use.
func col(name string) txn.Column { return txn.Column{Group: "app", Name: name} }

var groups = txn.Groups("app", DeadGroup)

func openMem(t testing.TB) store.Table {
	t.Helper()
	table, err := mem.New(groups, mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Close() })
	return table
}

func openBadger(t testing.TB) store.Table {
	t.Helper()
	table, err := badgerdb.Open(t.TempDir(), groups, badgerdb.Options{MinFreeBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Close() })
	return table
}

var engines = []struct {
	name string
	open func(testing.TB) store.Table
}{{"mem", openMem}, {"badger", openBadger}, {"postgres", openPostgres}}

func openPostgres(t testing.TB) store.Table {
	t.Helper()
	table, err := postgres.Open(context.Background(), pgtest.Shared(t).Emptied(t, fmt.Sprint(groups)), groups, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = table.Close() })
	return table
}

// rig is a pipeline on a table.
type rig struct {
	t     testing.TB
	db    *txn.DB
	p     *Pipeline
	table store.Table
}

// newRig opens a DB with a pipeline that is not started. The caller closes it.
func newRig(t testing.TB, table store.Table, opts Options, observers ...Observer) *rig {
	return newRigMode(t, table, opts, txn.Auto, observers...)
}

func newRigMode(t testing.TB, table store.Table, opts Options, mode txn.Mode, observers ...Observer) *rig {
	t.Helper()
	registry, err := NewRegistry(observers...)
	if err != nil {
		t.Fatal(err)
	}
	p := New(registry, opts)
	db, err := txn.Open(context.Background(), table, txn.Options{Mode: mode, Observers: registry.Observers, Handover: p.Handover})
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t, db, p, table}
}

func (r *rig) start() *rig {
	r.t.Helper()
	if err := r.p.Start(context.Background(), r.db); err != nil {
		r.t.Fatal(err)
	}
	return r
}

func (r *rig) close() {
	r.t.Helper()
	r.p.queue.checkInvariants(r.t)
	if err := r.p.Stop(); err != nil {
		r.t.Error(err)
	}
	if err := r.db.Close(); err != nil {
		r.t.Error(err)
	}
}

// set writes one cell.
func (r *rig) set(row, column, value string) {
	r.t.Helper()
	if _, err := r.db.Run(context.Background(), func(tx *txn.Txn) error {
		tx.Set(row, col(column), []byte(value))
		return nil
	}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) quiesce() uint64 {
	r.t.Helper()
	ts, err := r.p.Quiesce(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	return ts
}

// notifications counts those in the table.
func (r *rig) notifications() int {
	r.t.Helper()
	n := 0
	for from := ""; ; {
		notes, next, err := r.db.Notifications(context.Background(), from, scanChunk)
		if err != nil {
			r.t.Fatal(err)
		}
		if n += len(notes); next == "" {
			return n
		}
		from = next
	}
}

// checkDelayed checks the counts of debounced entries, and returns how many entries are delayed.
func (q *queue) checkDelayed(t testing.TB) (delayed int) {
	t.Helper()
	for i, h := range q.delayed {
		debounced := 0
		for _, e := range h {
			if e.debounced {
				debounced++
			}
		}
		if debounced != q.debounced[i] {
			t.Errorf("%d entries of observer %d are debounced, counted as %d", debounced, i, q.debounced[i])
		}
		delayed += len(h)
	}
	return delayed
}

// checkInvariants checks what can be checked of the invariants at the head of queue.go.
func (q *queue) checkInvariants(t testing.TB) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting, busy, open, opening := make([]int, len(q.ready)), make([]int, len(q.ready)), make([]int, len(q.ready)), make([]int, len(q.ready))
	spare := 0
	for i := range q.spare {
		spare -= q.spare[i].Len()
	}
	for k, e := range q.entries {
		if e.key != k {
			t.Errorf("entry of %v under %v", e.key, k)
		}
		if e.open {
			open[k.observer]++
		}
		if e.opening {
			opening[k.observer]++
		}
		switch e.place {
		case running:
			busy[k.observer]++
			continue
		case ready:
			if h := q.ready[k.observer]; e.pos >= len(h) || h[e.pos] != e {
				t.Errorf("%v is ready, but not in its heap", k)
			}
		case delayed:
			if h := q.delayed[k.observer]; e.pos >= len(h) || h[e.pos] != e {
				t.Errorf("%v is delayed, but not in its heap", k)
			}
		}
		waiting[k.observer]++
		if e.spare != nil && (e.place != delayed || !e.debounced || !e.urgent) {
			t.Errorf("%v is offered for spare time: %+v", k, e)
		}
		if e.spare != nil {
			spare++
		}
		if e.again != 0 || e.oldest > e.newest {
			t.Errorf("%v waits with again %d, oldest %d, newest %d", k, e.again, e.oldest, e.newest)
		}
	}
	if spare != 0 {
		t.Errorf("%d more entries are offered for spare time than are in the lists", spare)
	}
	inHeaps := q.checkDelayed(t)
	for i := range q.ready {
		inHeaps += len(q.ready[i]) + q.busy[i]
		if waiting[i] != q.waiting[i] || busy[i] != q.busy[i] {
			t.Errorf("observer %d: %d waiting and %d busy, counted as %d and %d", i, waiting[i], busy[i], q.waiting[i], q.busy[i])
		}
		if open[i] != q.open[i] || opening[i] != q.opening[i] {
			t.Errorf("observer %d: %d open and %d opening, counted as %d and %d", i, open[i], opening[i], q.open[i], q.opening[i])
		}
	}
	if inHeaps != len(q.entries) || len(q.entries) > q.capacity {
		t.Errorf("%d entries, %d in heaps or hands, capacity %d", len(q.entries), inHeaps, q.capacity)
	}
}
