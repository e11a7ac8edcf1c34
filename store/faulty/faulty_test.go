package faulty_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/faulty"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/store/storetest"
)

var groups = []store.GroupSpec{{Name: "g"}}

func newMem(t testing.TB, specs []store.GroupSpec, twoPhase bool) store.Table {
	t.Helper()
	table, err := mem.New(specs, mem.Options{TwoPhaseOnly: twoPhase})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Without a fault a wrapped table is as good as any.
func TestConformance(t *testing.T) {
	for _, twoPhase := range []bool{false, true} {
		storetest.Run(t, func(t testing.TB, specs []store.GroupSpec) store.Table {
			table, _ := faulty.Wrap(newMem(t, specs, twoPhase), faulty.Plan{})
			return table
		})
	}
}

func TestKeepsCapabilities(t *testing.T) {
	full := newMem(t, groups, false)
	snapshots := struct {
		store.Table
		store.Snapshotter
	}{full, full.(store.Snapshotter)}
	commits := struct {
		store.Table
		store.Committer
	}{full, full.(store.Committer)}
	for _, tc := range []struct {
		table              store.Table
		snapshots, commits bool
	}{{full, true, true}, {snapshots, true, false}, {commits, false, true}, {newMem(t, groups, true), false, false}} {
		wrapped, _ := faulty.Wrap(tc.table, faulty.Plan{})
		_, s := wrapped.(store.Snapshotter)
		_, c := wrapped.(store.Committer)
		if s != tc.snapshots || c != tc.commits {
			t.Errorf("wrapped: Snapshotter %v, Committer %v; want %v, %v", s, c, tc.snapshots, tc.commits)
		}
	}
}

func put(row string) store.RowMutation {
	return store.RowMutation{Row: []byte(row), Mutations: []store.Mutation{{Group: "g", Column: []byte("c"), TS: 1, Value: []byte("v")}}}
}

// there says whether a row exists in the wrapped table.
func there(t *testing.T, table store.Table, row string) bool {
	t.Helper()
	cells, err := table.Read(context.Background(), []byte(row), store.Selector{Group: "g", Prefix: true})
	if err != nil {
		t.Fatal(err)
	}
	return len(cells) > 0
}

func TestFaults(t *testing.T) {
	ctx := context.Background()
	for _, tc := range []struct {
		fault            faulty.Fault
		failed           bool
		happened, atNext bool // b exists right after its Mutate; after the next one
	}{
		{faulty.None, false, true, true},
		{faulty.Fail, true, false, false},
		{faulty.Lost, true, true, true},
		{faulty.Late, true, false, true},
		{faulty.Full, true, false, false},
		{faulty.Delay, false, true, true},
	} {
		t.Run(tc.fault.String(), func(t *testing.T) {
			inner := newMem(t, groups, false)
			table, probe := faulty.Wrap(inner, faulty.Plan{N: 2, Fault: tc.fault, Kinds: faulty.Writes})
			for i, row := range []string{"a", "b", "c"} {
				m := put(row)
				res, err := table.Mutate(ctx, m)
				m.Row[0] = '!' // the caller's again
				if failed := i == 1 && tc.failed; failed != errors.Is(err, faulty.ErrInjected) || failed != (res.Outcome == store.Unknown) {
					t.Errorf("row %s: %v, %v", row, res.Outcome, err)
				}
				if i == 1 && there(t, inner, "b") != tc.happened {
					t.Errorf("b is there: %v", !tc.happened)
				}
			}
			if there(t, inner, "b") != tc.atNext || !there(t, inner, "a") || !there(t, inner, "c") {
				t.Errorf("after all: a %v, b %v, c %v", there(t, inner, "a"), there(t, inner, "b"), there(t, inner, "c"))
			}
			if probe.Met() != (tc.fault != faulty.None) || probe.Operations() != 3 {
				t.Errorf("met %v after %d operations", probe.Met(), probe.Operations())
			}
		})
	}
}

func TestEvery(t *testing.T) {
	table, probe := faulty.Wrap(newMem(t, groups, false), faulty.Plan{N: 2, Every: 3, Fault: faulty.Full})
	for n := 1; n <= 9; n++ {
		_, err := table.Mutate(context.Background(), put("a"))
		if full := errors.Is(err, store.ErrNoSpace) && errors.Is(err, store.ErrNotDone); full != (n%3 == 2) || full != (err != nil) {
			t.Errorf("operation %d: %v", n, err)
		}
	}
	if !probe.Met() {
		t.Error("the fault was not met")
	}
	// A full disk can be read.
	table, _ = faulty.Wrap(newMem(t, groups, false), faulty.Plan{N: 1, Every: 1, Fault: faulty.Full})
	if there(t, table, "a") {
		t.Error("a is there")
	}
}

func TestLateHappensAtCloseAtLatest(t *testing.T) {
	inner := newMem(t, groups, false)
	seen := make(chan bool, 1)
	spy := &closeSpy{Table: inner, seen: seen, t: t}
	table, _ := faulty.Wrap(spy, faulty.Plan{N: 1, Fault: faulty.Late, After: 100})
	if err := table.Apply(context.Background(), []store.RowMutation{put("a")}); !errors.Is(err, faulty.ErrInjected) {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if !<-seen {
		t.Error("the row was not there when the table was closed")
	}
}

type closeSpy struct {
	store.Table
	seen chan bool
	t    *testing.T
}

func (s *closeSpy) Close() error {
	s.seen <- there(s.t, s.Table, "a")
	return s.Table.Close()
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, _ := faulty.Wrap(newMem(t, groups, false), faulty.Plan{N: 1, Fault: faulty.Delay, Wait: time.Hour})
		start := time.Now()
		if _, err := table.Mutate(t.Context(), put("a")); err != nil || time.Since(start) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		table, _ = faulty.Wrap(newMem(t, groups, false), faulty.Plan{N: 1, Fault: faulty.Delay, Wait: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := table.Mutate(ctx, put("a")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want the context's error", err)
		}
	})
}

// The loop that the package is for: it ends, and each operation fails once.
func TestWalk(t *testing.T) {
	ctx := context.Background()
	scenario := func(table store.Table) error {
		if _, err := table.Read(ctx, []byte("a"), store.Selector{Group: "g", Prefix: true}); err != nil {
			return err
		}
		if _, err := table.Mutate(ctx, put("a")); err != nil {
			return err
		}
		snap := table.(store.Snapshotter).Snapshot()
		defer snap.Close()
		_, err := snap.Scan(ctx, store.Range{Group: "g"}, func(store.Cell) error { return nil })
		return err
	}
	for n := 1; ; n++ {
		table, probe := faulty.Wrap(newMem(t, groups, false), faulty.Plan{N: n, Fault: faulty.Fail})
		err := scenario(table)
		if probe.Met() != errors.Is(err, faulty.ErrInjected) {
			t.Errorf("n=%d: met %v, error %v", n, probe.Met(), err)
		}
		if !probe.Met() {
			if n != 4 {
				t.Errorf("the walk ended at %d, want 4", n)
			}
			return
		}
	}
}
