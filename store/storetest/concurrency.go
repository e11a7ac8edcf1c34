package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/store"
)

// testRowAtomicity: writers set all cells of a row, in several groups, to one
// value; no Read, Scan or Snapshot sees two values.
func testRowAtomicity(t *testing.T, open Opener) {
	f := start(t, open)
	rounds := 300
	if testing.Short() {
		rounds = 100
	}
	set := func(v uint64) store.RowMutation {
		m := row("r")
		for _, g := range []string{versioned, latest, locks, resident} {
			for _, c := range []string{"a", "b"} {
				m.Mutations = append(m.Mutations, put(g, c, v, fmt.Sprint(v)))
			}
		}
		return m
	}
	sel := func() (s []store.Selector) {
		for _, g := range []string{versioned, latest, locks, resident} {
			s = append(s, store.Selector{Group: g, Prefix: true, Newest: 1})
		}
		return s
	}()
	f.mutate(set(1))
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for !done.Load() {
				cells, err := f.table.Read(ctx, []byte("r"), sel...)
				if err != nil || !uniform(cells, 8) {
					t.Errorf("torn read: %s, %v", show(cells), err)
					return
				}
				for _, g := range []string{versioned, latest} {
					cells = f.scanAll(f.table, store.Range{Group: g, Newest: 1})
					if !uniform(cells, 2) {
						t.Errorf("torn scan: %s", show(cells))
						return
					}
				}
			}
		})
	}
	for v := uint64(2); v < uint64(rounds); v++ {
		f.mutate(set(v))
	}
	done.Store(true)
	wg.Wait()
}

func uniform(cells []store.Cell, n int) bool {
	for _, c := range cells {
		if c.TS != cells[0].TS || string(c.Value) != fmt.Sprint(c.TS) {
			return false
		}
	}
	return len(cells) == n
}

func testContext(t *testing.T, open Opener) {
	f := start(t, open)
	dead, cancel := context.WithCancel(ctx)
	cancel()
	_, err := f.table.Mutate(dead, row("r", put(versioned, "c", 1, "v")))
	wantCanceled(t, "Mutate", err)
	wantCanceled(t, "Apply", f.table.Apply(dead, []store.RowMutation{row("r", put(versioned, "c", 1, "v"))}))
	_, err = f.table.Read(dead, []byte("r"), exact(versioned, "c"))
	wantCanceled(t, "Read", err)
	_, err = f.table.Scan(dead, store.Range{Group: versioned}, func(store.Cell) error { return nil })
	wantCanceled(t, "Scan", err)
	f.wantRead("", "r", prefix(versioned, ""))
	testContextRace(t, f)
}

func wantCanceled(t *testing.T, call string, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%s with an ended context: %v, want context.Canceled", call, err)
	}
}

// testContextRace: contexts end at any moment; what was reported as applied is
// there, and refusals do not come from nowhere.
func testContextRace(t *testing.T, f *fixture) {
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			short, cancel := context.WithCancel(ctx)
			go cancel()
			name := fmt.Sprint("race", i)
			res, err := f.table.Mutate(short, row(name, put(versioned, "c", 1, "v")))
			if (err == nil) != (res.Outcome == store.Applied) {
				t.Errorf("Mutate = %v, %v", res.Outcome, err)
			}
			if got := f.read(f.table, name, prefix(versioned, "")); err == nil && got == "" {
				t.Errorf("row %s was applied and is not there", name)
			}
		})
	}
	wg.Wait()
}

func testClosed(t *testing.T, open Opener) {
	table := open(t, Groups)
	f := &fixture{TB: t, table: table}
	f.mutate(row("r", put(versioned, "c", 1, "v")))
	var snap store.Snapshot
	if s, ok := table.(store.Snapshotter); ok {
		snap = s.Snapshot()
	}
	if err := table.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if err := table.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	_, err := table.Mutate(ctx, row("r", put(versioned, "c", 2, "v")))
	wantClosed(t, "Mutate", err)
	wantClosed(t, "Apply", table.Apply(ctx, []store.RowMutation{row("r", put(versioned, "c", 2, "v"))}))
	_, err = table.Read(ctx, []byte("r"), exact(versioned, "c"))
	wantClosed(t, "Read", err)
	_, err = table.Scan(ctx, store.Range{Group: versioned}, func(store.Cell) error { return nil })
	wantClosed(t, "Scan", err)
	if c, ok := table.(store.Committer); ok {
		_, _, err = c.Commit(ctx, []store.RowMutation{row("r", put(versioned, "c", 2, "v"))})
		wantClosed(t, "Commit", err)
	}
	if snap != nil {
		_, err = snap.Read(ctx, []byte("r"), exact(versioned, "c"))
		wantClosed(t, "Read of a snapshot", err)
		snap.Close()
	}
}

func wantClosed(t *testing.T, call string, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrClosed) {
		t.Errorf("%s after Close: %v, want ErrClosed", call, err)
	}
}
