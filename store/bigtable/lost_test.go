package bigtable

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
)

var lostGroups = []store.GroupSpec{{Name: "data"}, {Name: "lock", Latest: true}}

// faults opens a table behind a proxy. The n-th request of a method has the fault of that
// number.
func faults(t *testing.T, groups []store.GroupSpec, opts Options, plan func(method string) bigtabletest.Fault) (*DB, *bigtabletest.Proxy) {
	t.Helper()
	proxy := bigtabletest.NewProxy(t, bigtabletest.Start(t), plan)
	db, err := Open(context.Background(), bigtabletest.At(proxy.Host, "lost"), groups, opts)
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, db)
	return db, proxy
}

func put(group, column string, ts uint64, value string) store.Mutation {
	return store.Mutation{Op: store.Put, Group: group, Column: []byte(column), TS: ts, Value: []byte(value)}
}

// The shapes of guarded mutations that transactions send, and some that they do not.
func lostMutations() map[string]struct {
	m        store.RowMutation
	resolved bool // a read can prove that it was applied
} {
	lock := &store.CellRef{Group: "lock", Column: []byte("c"), TS: 5}
	unlock := store.Mutation{Op: store.Delete, Group: "lock", Column: []byte("c"), TS: 5}
	free := store.Selector{Group: "lock", Column: []byte("d")}
	return map[string]struct {
		m        store.RowMutation
		resolved bool
	}{
		"prewrite":               {store.RowMutation{Absent: []store.Selector{free}, Mutations: []store.Mutation{put("lock", "d", 7, "token"), put("data", "d", 7, "value")}}, true},
		"commit":                 {store.RowMutation{Require: lock, Mutations: []store.Mutation{unlock, put("data", "w", 9, "5")}}, true},
		"heartbeat":              {store.RowMutation{Require: lock, Mutations: []store.Mutation{put("lock", "c", 5, "later")}}, true},
		"nothing it guards":      {store.RowMutation{Absent: []store.Selector{free}, Mutations: []store.Mutation{put("data", "x", 7, "value")}}, false},
		"the lock stays":         {store.RowMutation{Require: lock, Mutations: []store.Mutation{put("data", "x", 7, "value")}}, false},
		"deletes under a guard":  {store.RowMutation{Absent: []store.Selector{free}, Mutations: []store.Mutation{unlock}}, false},
		"refused for the lock":   {store.RowMutation{Absent: []store.Selector{{Group: "lock", Column: []byte("c")}}, Mutations: []store.Mutation{put("lock", "c", 7, "mine")}}, false},
		"refused for want of it": {store.RowMutation{Require: &store.CellRef{Group: "lock", Column: []byte("c"), TS: 4}, Mutations: []store.Mutation{put("lock", "c", 4, "mine")}}, false},
	}
}

// TestLostAnswers: Bigtable does what a guarded mutation asks, and the answer is lost. The
// outcome is Applied where the row proves it, and Unknown otherwise, and the request is not
// sent again.
func TestLostAnswers(t *testing.T) {
	for _, kind := range []bigtabletest.Kind{bigtabletest.Lost, bigtabletest.Fail} {
		var lose atomic.Bool
		db, proxy := faults(t, lostGroups, Options{}, func(method string) bigtabletest.Fault {
			if method == "CheckAndMutateRow" && lose.Load() {
				return bigtabletest.Fault{Kind: kind}
			}
			return bigtabletest.Fault{}
		})
		for name, tc := range lostMutations() {
			t.Run(fmt.Sprint(kind, " ", name), func(t *testing.T) {
				ctx := context.Background()
				row := []byte(fmt.Sprint(kind, name))
				if err := db.Apply(ctx, []store.RowMutation{{Row: row, Mutations: []store.Mutation{put("lock", "c", 5, "token")}}}); err != nil {
					t.Fatal(err)
				}
				lose.Store(true)
				sent := proxy.Count("CheckAndMutateRow")
				tc.m.Row = row
				res, err := db.Mutate(ctx, tc.m)
				lose.Store(false)
				want := store.Unknown
				if tc.resolved && kind == bigtabletest.Lost {
					want = store.Applied
				}
				if res.Outcome != want || (err == nil) != (want == store.Applied) || errors.Is(err, store.ErrNotDone) {
					t.Errorf("Mutate = %v, %v; want %v", res.Outcome, err, want)
				}
				if n := proxy.Count("CheckAndMutateRow") - sent; n != 1 {
					t.Errorf("it was sent %d times", n)
				}
			})
		}
	}
}

// TestRepeated: reads, scans and writes without guards are sent again after a failure.
func TestRepeated(t *testing.T) {
	n := 0
	db, _ := faults(t, lostGroups, Options{}, func(method string) bigtabletest.Fault {
		if n++; method == "CheckAndMutateRow" || method == "GetTable" || n%2 == 0 {
			return bigtabletest.Fault{}
		}
		return bigtabletest.Fault{Kind: []bigtabletest.Kind{bigtabletest.Lost, bigtabletest.Fail}[n/2%2]}
	})
	ctx := context.Background()
	for i := range 4 {
		var rows []store.RowMutation
		for j := range i + 1 {
			rows = append(rows, store.RowMutation{Row: fmt.Append(nil, "row", j), Mutations: []store.Mutation{put("data", "c", 1, "v")}})
		}
		if err := db.Apply(ctx, rows); err != nil {
			t.Fatal(err)
		}
		cells, err := db.Read(ctx, fmt.Append(nil, "row", i), store.Selector{Group: "data", Prefix: true})
		if err != nil || len(cells) != 1 {
			t.Errorf("Read gives %d cells, %v", len(cells), err)
		}
		found := 0
		if _, err := db.Scan(ctx, store.Range{Group: "data"}, func(store.Cell) error { found++; return nil }); err != nil || found != i+1 {
			t.Errorf("Scan gives %d cells, %v", found, err)
		}
	}
}

// TestCallTimeout: calls end when Bigtable does not answer.
func TestCallTimeout(t *testing.T) {
	var silent atomic.Bool
	db, _ := faults(t, lostGroups, Options{CallTimeout: 300 * time.Millisecond}, func(string) bigtabletest.Fault {
		if silent.Load() {
			return bigtabletest.Fault{Kind: bigtabletest.Fail}
		}
		return bigtabletest.Fault{}
	})
	silent.Store(true)
	ctx := context.Background()
	_, err := db.Read(ctx, []byte("row"), store.Selector{Group: "data", Prefix: true})
	for call, err := range map[string]error{
		"Read":  err,
		"Apply": db.Apply(ctx, []store.RowMutation{{Row: []byte("row"), Mutations: []store.Mutation{put("data", "c", 1, "v")}}}),
	} {
		if !errors.Is(err, errTimeout) || !errors.Is(err, store.ErrUnavailable) { // loaders wait for the one
			t.Errorf("%s: %v, want %v, and %v", call, err, errTimeout, store.ErrUnavailable)
		}
	}
	silent.Store(false)
}
