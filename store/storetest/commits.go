package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/store"
)

func testCommit(t *testing.T, open Opener) {
	f := start(t, open)
	c, _ := f.committer()
	ts, res, err := c.Commit(ctx, []store.RowMutation{
		row("a", put(versioned, "w", store.AtCommit, "x"), put(versioned, "d", 7, "data"), put(latest, "n", store.AtCommit, "n")),
		row("b", put(versioned, "w", store.AtCommit, "y")),
	})
	if err != nil || res.Outcome != store.Applied || ts != 1001 {
		t.Fatalf("Commit = %d, %v, %v; want 1001, applied", ts, res.Outcome, err)
	}
	f.wantRead("versioned:a:d@7=data versioned:a:w@1001=x latest:a:n@1001=n", "a", prefix(versioned, ""), prefix(latest, ""))
	f.wantRead("versioned:b:w@1001=y", "b", prefix(versioned, ""))

	// All guards are checked before any row changes.
	guarded := []store.RowMutation{
		row("a", put(versioned, "w", store.AtCommit, "x2")),
		{Row: []byte("b"), Absent: []store.Selector{{Group: versioned, Column: []byte("w"), MinTS: 1001}}, Mutations: []store.Mutation{put(versioned, "w", store.AtCommit, "y2")}},
	}
	ts, res, err = c.Commit(ctx, guarded)
	if err != nil || res.Outcome != store.Refused || ts != 0 || string(res.Row) != "b" || foundIn(res) != "w@1001" {
		t.Errorf("Commit with a guard that does not hold = %d, %+v, %v", ts, res, err)
	}
	f.wantRead("versioned:a:w@1001=x", "a", exact(versioned, "w"))
	guarded[1].Absent[0].MinTS = 1002
	if _, res, err = c.Commit(ctx, guarded); err != nil || res.Outcome != store.Applied {
		t.Errorf("Commit with a guard that holds = %v, %v", res, err)
	}
	f.wantRead("versioned:a:w@1002=x2 versioned:a:w@1001=x", "a", exact(versioned, "w"))

	// AtCommit in deletes; a row that comes twice.
	_, res, err = c.Commit(ctx, []store.RowMutation{
		row("a", delUpTo(versioned, "w", store.AtCommit), put(versioned, "w", store.AtCommit, "x3")),
		row("a", delUpTo(latest, "n", store.AtCommit)),
		row("a", put(resident, "p", store.AtCommit, "1"), put(resident, "p", 5, "1"), put(resident, "q", store.AtCommit, "1"), delUpTo(resident, "p", store.AtCommit)),
	})
	if err != nil || res.Outcome != store.Applied {
		t.Fatalf("Commit = %v, %v", res, err)
	}
	f.wantRead("versioned:a:w@1003=x3 resident:a:q@1003=1", "a", exact(versioned, "w"), prefix(latest, ""), prefix(resident, ""))

	// A Commit of nothing is applied.
	if ts, res, err = c.Commit(ctx, nil); err != nil || res.Outcome != store.Applied || ts != 1004 {
		t.Errorf("Commit of nothing = %d, %v, %v", ts, res, err)
	}
}

// testCommitConflicts makes concurrent commits, each of which guards a cell that
// all others write. Exactly one of each round wins, and the losers learn which
// cell refused them.
func testCommitConflicts(t *testing.T, open Opener) {
	f := start(t, open)
	c, clock := f.committer()
	const rounds, rivals = 40, 8
	for round := range rounds {
		name := fmt.Sprint("hot", round%3) // the cell of an earlier round is older than MinTS
		from := clock.last + 1
		var won atomic.Int64
		var winner atomic.Uint64
		results := make([]store.Result, rivals)
		var wg sync.WaitGroup
		for i := range rivals {
			wg.Go(func() {
				ts, res, err := c.Commit(ctx, []store.RowMutation{
					row(fmt.Sprint("own", i), put(versioned, "w", store.AtCommit, "x")),
					{Row: []byte(name), Absent: []store.Selector{{Group: versioned, Column: []byte("w"), MinTS: from}}, Mutations: []store.Mutation{put(versioned, "w", store.AtCommit, fmt.Sprint(i))}},
				})
				if err != nil {
					t.Error(err)
				}
				if res.Outcome == store.Applied {
					won.Add(1)
					winner.Store(ts)
				}
				results[i] = res
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("round %d: %d of %d rivals won", round, won.Load(), rivals)
		}
		for i, res := range results {
			if res.Outcome == store.Refused && (res.Found == nil || res.Found.TS != winner.Load() || string(res.Row) != name) {
				t.Errorf("round %d: rival %d was refused by %+v, the winner wrote at %d", round, i, res.Found, winner.Load())
			}
		}
	}
}

func testClockAlternates(t *testing.T, open Opener) {
	f := start(t, open)
	c, clock := f.committer()
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[uint64]bool{}
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				ts, res, err := c.Commit(ctx, []store.RowMutation{row(fmt.Sprint(w, "-", i), put(versioned, "w", store.AtCommit, "x"))})
				if err != nil || res.Outcome != store.Applied {
					t.Errorf("Commit = %v, %v", res, err)
				}
				f.mutate(row(fmt.Sprint(w), put(latest, "c", uint64(i), "x"))) // other kinds in the same groups
				mu.Lock()
				if seen[ts] {
					t.Errorf("timestamp %d was given twice", ts)
				}
				seen[ts] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(clock.faults) > 0 || clock.open {
		t.Errorf("clock: %v, open %v; want Reserve and Visible to alternate", clock.faults, clock.open)
	}
	if len(seen) != 400 || clock.last != 1400 {
		t.Errorf("%d commits, %d timestamps reserved; want 400 of each", len(seen), clock.last-1000)
	}
}

func testClockFails(t *testing.T, open Opener) {
	f := start(t, open)
	c, clock := f.committer()
	clock.fail = errors.New("no time")
	_, res, err := c.Commit(ctx, []store.RowMutation{row("r", put(versioned, "w", store.AtCommit, "x"))})
	if !errors.Is(err, clock.fail) || !errors.Is(err, store.ErrNotDone) || res.Outcome != store.Unknown {
		t.Errorf("Commit = %v, %v; want the clock's error, and ErrNotDone", res, err)
	}
	f.wantRead("", "r", prefix(versioned, ""))
	f.mutate(row("r", put(versioned, "c", 1, "mutations need no clock")))
	clock.fail = nil
	if _, res, err := c.Commit(ctx, []store.RowMutation{row("r", put(versioned, "w", store.AtCommit, "x"))}); err != nil || res.Outcome != store.Applied {
		t.Errorf("Commit after the clock recovered = %v, %v", res, err)
	}
	if len(clock.faults) > 0 || clock.open {
		t.Errorf("clock: %v, open %v", clock.faults, clock.open)
	}
}

// visibleClock checks, in Visible, that what was committed can be read.
type visibleClock struct {
	*testClock
	check func(ts uint64)
}

func (c *visibleClock) Visible() {
	c.testClock.Visible()
	c.check(c.visible)
}

// testCommitVisibility: when the clock hears Visible, the commit can be read.
func testCommitVisibility(t *testing.T, open Opener) {
	f := start(t, open)
	c, ok := f.table.(store.Committer)
	if !ok {
		t.Skip("the table is not a Committer")
	}
	clock := &visibleClock{testClock: newClock()}
	clock.check = func(ts uint64) {
		cells, err := f.table.Read(ctx, []byte("r"), store.Selector{Group: versioned, Column: []byte("w"), MinTS: ts})
		if err != nil || len(cells) != 1 {
			t.Errorf("Visible at %d, and the cell cannot be read: %s, %v", ts, show(cells), err)
		}
	}
	c.UseClock(clock)
	for range 20 {
		if _, _, err := c.Commit(ctx, []store.RowMutation{row("r", put(versioned, "w", store.AtCommit, "x"))}); err != nil {
			t.Fatal(err)
		}
	}
}

func testSnapshot(t *testing.T, open Opener) {
	f := start(t, open)
	s := f.snapshotter()
	sel := []store.Selector{prefix(versioned, ""), prefix(latest, ""), prefix(locks, ""), prefix(resident, "")}
	empty := s.Snapshot()
	defer empty.Close()
	var snaps []store.Snapshot
	var want []string
	for i := range uint64(20) {
		m := row("r", put(versioned, "c", i, "v"), put(latest, "c", i, "v"), delUpTo(versioned, "c", i/2))
		if i%3 == 0 {
			m.Mutations = append(m.Mutations, put(locks, "c", i, "v"), put(resident, "c", i, "v"))
		} else {
			m.Mutations = append(m.Mutations, delUpTo(locks, "c", i), delUpTo(resident, "c", i))
		}
		f.mutate(m)
		snaps = append(snaps, s.Snapshot())
		want = append(want, f.read(f.table, "r", sel...))
	}
	for i, snap := range snaps {
		if got := f.read(snap, "r", sel...); got != want[i] {
			t.Errorf("snapshot %d:\n got %s\nwant %s", i, got, want[i])
		}
		var all string
		for _, g := range Groups {
			if cells := f.scanAll(snap, store.Range{Group: g.Name}); len(cells) > 0 {
				all += " " + show(cells)
			}
		}
		if all != " "+want[i] {
			t.Errorf("scan of snapshot %d:\n got%s\nwant %s", i, all, want[i])
		}
		snap.Close()
	}
	if got := f.read(empty, "r", sel...); got != "" {
		t.Errorf("the snapshot of the empty table has %s", got)
	}
}
