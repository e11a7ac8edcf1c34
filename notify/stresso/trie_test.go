package stresso

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/store/postgres"
	"github.com/webindexer/indexer/txn"
)

func TestMain(m *testing.M) {
	killtest.Main(map[string]func() error{"load": runChild})
	goleak.VerifyTestMain(pgtest.Main{M: m})
}

var groups = txn.Groups(Group, notify.DeadGroup)

// app is the application on a table.
type app struct {
	trie     Trie
	db       *txn.DB
	pipeline *notify.Pipeline
}

func start(ctx context.Context, table store.Table, trie Trie, mode txn.Mode, workers int) (*app, error) {
	registry, err := notify.NewRegistry(trie.Observers(8)...)
	if err != nil {
		return nil, err
	}
	// A small queue overflows now and then; many attempts, because no number may
	// end in a dead letter.
	p := notify.New(registry, notify.Options{Workers: workers, Capacity: 500, Backlog: 100, Attempts: 1000})
	db, err := txn.Open(ctx, table, txn.Options{Mode: mode, Observers: registry.Observers, Handover: p.Handover})
	if err != nil {
		return nil, err
	}
	return &app{trie, db, p}, p.Start(ctx, db)
}

func (a *app) stop(t *testing.T) {
	t.Helper()
	if err := a.pipeline.Stop(); err != nil {
		t.Error(err)
	}
	if err := a.db.Close(); err != nil {
		t.Error(err)
	}
}

// load inserts numbers from several goroutines, and calls acked for each.
func (a *app) load(ctx context.Context, loaders int, numbers []uint64, acked func(uint64)) error {
	var work sync.WaitGroup
	errs := make(chan error, loaders)
	for i := range loaders {
		work.Go(func() {
			for j := i; j < len(numbers); j += loaders {
				if err := a.pipeline.Admit(ctx); err != nil {
					errs <- err
					return
				}
				if _, err := a.db.Run(ctx, func(tx *txn.Txn) error { return a.trie.Insert(ctx, tx, numbers[j]) }); err != nil {
					errs <- err
					return
				}
				acked(numbers[j])
			}
		})
	}
	work.Wait()
	close(errs)
	return <-errs
}

// want checks a snapshot: everything adds up, and with a set of numbers, they are
// all there and in the root, and no others.
func (a *app) want(t *testing.T, ts uint64, numbers map[uint64]bool) {
	t.Helper()
	tx := a.db.At(ts)
	defer tx.Rollback()
	c, err := a.trie.Check(context.Background(), tx)
	if err != nil {
		t.Error(err)
	}
	if numbers == nil {
		return
	}
	if c.Root != uint64(len(numbers)) || len(c.Leaves) != len(numbers) || c.Waiting != 0 {
		t.Errorf("the root has counted %d, there are %d leaves and %d on their way; %d distinct numbers were loaded",
			c.Root, len(c.Leaves), c.Waiting, len(numbers))
	}
}

func draw(rng *rand.Rand, n int, limit uint64) (numbers []uint64, distinct map[uint64]bool) {
	distinct = make(map[uint64]bool)
	for range n {
		x := rng.Uint64N(limit)
		numbers, distinct[x] = append(numbers, x), true
	}
	return numbers, distinct
}

var paths = []struct {
	name string
	mode txn.Mode
}{{"onephase", txn.OnePhase}, {"twophase", txn.TwoPhase}}

const postgresEngine = "postgres" // slow, and without one-phase commits

var engines = []struct {
	name string
	open func(*testing.T) (store.Table, error)
}{
	{"mem", func(*testing.T) (store.Table, error) { return mem.New(groups, mem.Options{}) }},
	{"badger", func(t *testing.T) (store.Table, error) {
		return badgerdb.Open(t.TempDir(), groups, badgerdb.Options{MinFreeBytes: -1})
	}},
	{postgresEngine, func(t *testing.T) (store.Table, error) {
		return postgres.Open(t.Context(), pgtest.Shared(t).Schema(t), groups, postgres.Options{})
	}},
}

// TestCountsDistinct loads random numbers, some of them several times, while 16 workers
// run, and then all of them again. Snapshots taken in the middle add up; in the end the
// root has the number of distinct numbers.
func TestCountsDistinct(t *testing.T) {
	n, trie := 1500, Trie{Levels: 4}
	switch {
	case testenv.Long():
		n, trie = 20_000, Trie{Levels: 6}
	case testing.Short():
		n = 300
	}
	for _, engine := range engines {
		for _, path := range paths {
			if engine.name == postgresEngine && path.mode == txn.OnePhase {
				continue
			}
			t.Run(engine.name+"/"+path.name, func(t *testing.T) {
				rng := testenv.Random(t)
				table, err := engine.open(t)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = table.Close() }()
				ctx := context.Background()
				n := n
				if engine.name == "mem" {
					n = min(n, 5000) // it walks over the versions of a hot cell
				}
				if engine.name == postgresEngine {
					n = min(n, testenv.Size(50, 100, 3000))
				}
				numbers, distinct := draw(rng, n, trie.Limit()/16)
				a, err := start(ctx, table, trie, path.mode, 16)
				if err != nil {
					t.Fatal(err)
				}
				var mu sync.Mutex
				loaded := 0
				look := func(uint64) {
					mu.Lock()
					defer mu.Unlock()
					if loaded++; loaded%(n/5) == 0 {
						a.want(t, a.db.LastTimestamp(), nil)
					}
				}
				began := time.Now()
				for range 2 {
					if err := a.load(ctx, 4, numbers, look); err != nil {
						t.Fatal(err)
					}
					done, err := a.pipeline.Quiesce(ctx)
					if err != nil {
						t.Fatal(err)
					}
					a.want(t, done, distinct)
				}
				s := a.pipeline.Stats()[0]
				t.Logf("%d numbers, %d distinct, twice in %v: %d runs on %d nodes, %d conflicts",
					n, len(distinct), time.Since(began).Round(time.Millisecond), s.Runs, s.Rows, s.Conflicts)
				a.stop(t)
			})
		}
	}
}

// Check finds what it is there for.
func TestCheckFinds(t *testing.T) {
	for _, tc := range []struct {
		row  string
		col  txn.Column
		to   string
		want string
	}{
		{"00/", seen, "4", `4 have arrived at node "00/", and 3 were`},
		{"01/a", seen, "1", `1 have arrived at node "01/a", and 2 were`},
		{"02/a7", wait, "1", `2 have arrived at node "02/a7", and 1 were`},
		{"01/f", wait, "1", `1 have arrived at node "01/f", which has nothing below`},
		{"01/zz", wait, "1", "is not a node"},
		{"00/", seen, "many", "invalid syntax"},
	} {
		t.Run(fmt.Sprint(tc.row, " ", tc.col.Name, " ", tc.to), func(t *testing.T) {
			ctx := context.Background()
			table, err := mem.New(groups, mem.Options{})
			if err != nil {
				t.Fatal(err)
			}
			a, err := start(ctx, table, Trie{Levels: 2}, txn.Auto, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.load(ctx, 1, []uint64{0xa7, 0xa8, 0x07}, func(uint64) {}); err != nil {
				t.Fatal(err)
			}
			done, err := a.pipeline.Quiesce(ctx)
			if err != nil {
				t.Fatal(err)
			}
			a.want(t, done, map[uint64]bool{0xa7: true, 0xa8: true, 0x07: true})
			a.stop(t)
			db, err := txn.Open(ctx, table, txn.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Run(ctx, func(tx *txn.Txn) error { tx.Set(tc.row, tc.col, []byte(tc.to)); return nil }); err != nil {
				t.Fatal(err)
			}
			tx := db.At(db.LastTimestamp())
			defer tx.Rollback()
			if _, err := a.trie.Check(ctx, tx); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Check: %v, want %q", err, tc.want)
			}
		})
	}
}
