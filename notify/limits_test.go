package notify

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/txn"
)

// TestExclusive: many workers, many rows, and never two runs of the observer at a time,
// while those of another go on. Nothing is lost when a run ends with others waiting.
func TestExclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most, ran, other atomic.Int64
		r := newRig(t, openMem(t), Options{Workers: 8},
			Observer{Name: "exclusive", Watches: col("x"), Weak: true, Exclusive: true, Batch: 3, Run: func(_ context.Context, _ *txn.Txn, rows []string) error {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Millisecond) // of fake time: other workers get a turn
				running.Add(-1)
				ran.Add(int64(len(rows)))
				return nil
			}},
			Observer{Name: "other", Watches: col("y"), Weak: true, Run: func(context.Context, *txn.Txn, []string) error { other.Add(1); return nil }},
		)
		if err := r.p.Start(t.Context(), r.db); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if _, err := r.db.Run(t.Context(), func(tx *txn.Txn) error {
				tx.Notify(fmt.Sprint(i), col("x"))
				tx.Notify(fmt.Sprint(i), col("y"))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.p.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most.Load() != 1 || ran.Load() != 100 || other.Load() != 100 {
			t.Errorf("%d runs at a time, %d rows, %d of the other", most.Load(), ran.Load(), other.Load())
		}
		if err := r.p.Stop(); err != nil {
			t.Error(err)
		}
		if err := r.db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAlign: rows of an exclusive observer that are notified at different times come
// due at the same one.
func TestAlign(t *testing.T) {
	registry, err := NewRegistry(
		Observer{Name: "exclusive", Watches: col("x"), Exclusive: true, Debounce: 5 * time.Second, Run: func(context.Context, *txn.Txn, []string) error { return nil }},
		Observer{Name: "each", Watches: col("y"), Debounce: 5 * time.Second, Run: func(context.Context, *txn.Txn, []string) error { return nil }},
	)
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(registry, 10)
	base := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		observer  int
		ms, wantS int64
	}{{0, 0, 1}, {0, 1, 1}, {0, 999, 1}, {0, 1000, 2}, {0, 1700, 2}} {
		at := base.Add(time.Duration(c.ms) * time.Millisecond)
		if got := q.align(c.observer, at); got.Sub(base) != time.Duration(c.wantS)*time.Second {
			t.Errorf("%d ms becomes %v, want %d s", c.ms, got.Sub(base), c.wantS)
		}
	}
	if at := base.Add(123); !q.align(1, at).Equal(at) {
		t.Error("rows of other observers are moved")
	}
}

// TestReplaces: notifications of an observer that another one replaces are answered by
// that one, after a restart of the application in a new version.
func TestReplaces(t *testing.T) {
	table := openMem(t)
	old := newRig(t, table, Options{}, Observer{Name: "tally", Watches: col("x"), Weak: true, Run: func(context.Context, *txn.Txn, []string) error { return nil }})
	if _, err := old.db.Run(t.Context(), func(tx *txn.Txn) error {
		tx.Notify("row", col("x"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := old.db.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	r := newRig(t, table, Options{}, Observer{Name: "count", Replaces: []string{"tally"}, Watches: col("y"), Weak: true,
		Run: func(_ context.Context, _ *txn.Txn, rows []string) error {
			got = append(got, rows...)
			return nil
		}}).start()
	defer r.close()
	r.quiesce()
	if len(got) != 1 || got[0] != "row" {
		t.Errorf("count ran on %q, want row once", got)
	}
	if n := r.notifications(); n != 0 {
		t.Errorf("%d notifications are left", n)
	}
}

// TestUpstream: names are resolved through others, and what cannot be resolved is refused.
func TestUpstream(t *testing.T) {
	nop := func(context.Context, *txn.Txn, []string) error { return nil }
	observer := func(name string, upstream ...string) Observer {
		return Observer{Name: name, Watches: col("x"), Upstream: upstream, Run: nop}
	}
	r, err := NewRegistry(observer("c", "b"), observer("a"), observer("b", "a"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.upstream[0]) != 2 || len(r.upstream[1]) != 0 || len(r.downstream[1]) != 2 {
		t.Errorf("upstream %v, downstream %v", r.upstream, r.downstream)
	}
	for _, c := range []struct {
		list []Observer
		want string
	}{
		{[]Observer{observer("a", "b")}, `notify: upstream of observer "a": there is no observer "b"`},
		{[]Observer{observer("a", "b"), observer("b", "a")}, `notify: observer "a" is upstream of itself`},
	} {
		if _, err := NewRegistry(c.list...); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestMaxOpen: many workers, many rows that take three runs each, and never more than
// two of them begun and not done. The queue holds fewer rows than there are.
func TestMaxOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		runs, open, most := make(map[string]int), 0, 0
		r := newRig(t, openMem(t), Options{Workers: 8, Capacity: 10},
			Observer{Name: "count", Watches: col("x"), Weak: true, MaxOpen: 2, Debounce: time.Minute, Run: func(_ context.Context, tx *txn.Txn, rows []string) error {
				mu.Lock()
				if runs[rows[0]]++; runs[rows[0]] == 1 {
					open++
					most = max(most, open)
				}
				done := runs[rows[0]] == 3
				mu.Unlock()
				time.Sleep(time.Millisecond) // of fake time: others get a chance
				if !done {
					tx.Continue(rows[0], col("x"))
					return nil
				}
				mu.Lock()
				open--
				mu.Unlock()
				return nil
			}})
		if _, err := r.db.Run(t.Context(), func(tx *txn.Txn) error {
			for i := range 100 {
				tx.Notify(fmt.Sprint(i), col("x"))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		r.start()
		defer r.close()
		r.quiesce()
		if most != 2 || open != 0 || len(runs) != 100 {
			t.Errorf("%d rows open at a time, %d at the end, %d rows run; want 2, 0, 100", most, open, len(runs))
		}
		for row, n := range runs {
			if n != 3 {
				t.Errorf("row %s: %d runs, want 3", row, n)
			}
		}
	})
}

// TestContinuedWhileLimited: a row that waits because other rows are open may run once it is found
// to be open itself, and a worker that waits for work takes it.
func TestContinuedWhileLimited(t *testing.T) {
	inQueue(t, 100, func(g *debounced) {
		found := func(row string) {
			g.ts++
			g.add([]txn.Notification{{Cell: txn.Cell{Row: row, Column: col("i")}, Observer: "index", TS: g.ts, Continues: true}}, true)
		}
		found("a")
		g.requeue(g.begin(), time.Hour)
		g.notify("index", "i", "b")
		g.mu.Lock()
		g.wanted, g.working = 1, []bool{true}
		g.mu.Unlock()
		taken := make(chan []*entry, 1)
		go func() { taken <- g.next(0) }()
		synctest.Wait()
		if len(taken) > 0 {
			t.Error("a worker took a row although another one is open")
		}
		found("b")
		synctest.Wait()
		if len(taken) == 0 {
			t.Fatal("no worker took the row that is open")
		}
		g.end(<-taken)
	}, Observer{Name: "index", MaxOpen: 1})
}
