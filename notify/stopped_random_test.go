package notify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// TestWorkersStopAnywhere: processes run observers, and are stopped before or after any call of the
// table for so long that others find them dead. Answers are lost, writes arrive late, and garbage is
// collected all the time. In the end every change has reached the last column, and no strong
// observer has committed more runs for a row than there were changes of it, and ghosts: notifications
// of transactions that failed.
func TestWorkersStopAnywhere(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(5, 15, 1000))) {
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &mill{fleet: newFleet(t), ghosts: make(map[string]int), random: rand.New(rand.NewPCG(seed, 5))}
				w.run()
			})
		}) {
			return
		}
	}
}

const (
	millRows    = 6
	millChanges = 60
)

// mill is a table with processes that come and go.
type mill struct {
	*fleet
	mu      sync.Mutex
	random  *rand.Rand
	changes [millRows]int
	ghosts  map[string]int // by row: runs of first that failed
	stops   int
	late    sync.WaitGroup // writes on their way
}

func (w *mill) intN(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// observers pass on what is in a to b, and from there to c, and count their runs.
func (w *mill) observers() []Observer {
	pass := func(from, to string) func(context.Context, *txn.Txn, []string) error {
		return func(ctx context.Context, tx *txn.Txn, rows []string) error {
			for _, row := range rows {
				v, err := tx.Get(ctx, row, col(from))
				if err != nil {
					return err
				}
				n, err := number(ctx, tx, row, "runs of "+to)
				if err != nil {
					return err
				}
				tx.Set(row, col(to), v.Data)
				tx.Set(row, col("runs of "+to), []byte(strconv.Itoa(n+1)))
			}
			return nil
		}
	}
	return []Observer{
		{Name: "first", Watches: col("a"), Batch: 3, Run: pass("a", "b")},
		{Name: "second", Watches: col("b"), Batch: 3, Run: pass("b", "c")},
	}
}

func number(ctx context.Context, tx *txn.Txn, row, column string) (int, error) {
	v, err := tx.Get(ctx, row, col(column))
	if err != nil || !v.Exists {
		return 0, err
	}
	return strconv.Atoi(string(v.Data))
}

func (w *mill) open(table store.Table, process *sharedtest.Process, workers int) (*rig, error) {
	registry, err := NewRegistry(w.observers()...)
	if err != nil {
		w.t.Fatal(err)
	}
	p := New(registry, Options{Workers: workers, Attempts: 1000, Capacity: 2 + w.intN(20), Events: Events{Tried: w.tried}})
	db, err := txn.Open(context.Background(), table, txn.Options{Observers: registry.Observers, Handover: p.Handover, Coordination: process.Coordination()})
	if err != nil {
		return nil, err
	}
	r := &rig{w.t, db, p, table}
	if workers == 0 {
		err = p.Attach(context.Background(), db)
	} else {
		err = p.Start(context.Background(), db)
	}
	return r, err
}

func (w *mill) tried(a Attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, row := range a.Rows {
		if a.Observer == "first" && a.Err != nil {
			w.ghosts[row]++
		}
	}
}

func (w *mill) run() {
	first, err := w.open(w.table, w.office.Join(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	for range 3 {
		work.Go(func() {
			for ctx.Err() == nil {
				w.live(ctx)
			}
		})
	}
	work.Go(func() {
		for ctx.Err() == nil {
			_, _ = first.db.Collect(ctx, txn.CollectOptions{}) // it may have to wait for locks
			time.Sleep(500 * time.Millisecond)
		}
	})
	for i := range millChanges {
		row := w.intN(millRows)
		first.set(fmt.Sprint("row ", row), "a", strconv.Itoa(i))
		w.changes[row]++
		time.Sleep(time.Duration(w.intN(1500)) * time.Millisecond)
	}
	within, cancel := context.WithTimeout(ctx, 2*time.Hour)
	ts, err := first.p.Quiesce(within)
	cancel()
	stop()
	work.Wait()
	w.late.Wait()
	if err != nil {
		w.t.Fatal(err)
	}
	w.check(first, ts)
	first.close()
}

func (w *mill) check(r *rig, ts uint64) {
	ctx := context.Background()
	tx := r.db.At(ts)
	defer tx.Rollback()
	for i := range millRows {
		row := fmt.Sprint("row ", i)
		a, err := number(ctx, tx, row, "a")
		c, err2 := number(ctx, tx, row, "c")
		first, err3 := number(ctx, tx, row, "runs of b")
		second, err4 := number(ctx, tx, row, "runs of c")
		if err := errors.Join(err, err2, err3, err4); err != nil {
			w.t.Fatal(err)
		}
		if a != c || first > w.changes[i] || second > first+w.ghosts[row] {
			w.t.Errorf("%s: a is %d and c is %d, after %d changes, %d runs of first, %d ghosts and %d runs of second", row, a, c, w.changes[i], first, w.ghosts[row], second)
		}
	}
	w.t.Logf("%d stops", w.stops)
	if _, err := r.db.Check(ctx, txn.CheckOptions{}, func(p txn.Problem) { w.t.Error(p) }); err != nil {
		w.t.Error(err)
	}
}

// live is the life of a process, until others find it dead.
func (w *mill) live(ctx context.Context) {
	process := w.office.Join()
	r, err := w.open(&unsteady{Table: w.table, mill: w, process: process}, process, 2)
	if r != nil {
		for err == nil && ctx.Err() == nil && process.Valid() == nil && r.p.Err() == nil {
			time.Sleep(100 * time.Millisecond)
		}
		_ = r.p.Stop()
		_ = r.db.Close()
	}
	process.Die()
}

// unsteady is the table of a process that is stopped now and then.
type unsteady struct {
	store.Table
	mill    *mill
	process *sharedtest.Process
}

func (s *unsteady) pass() {
	if s.mill.intN(150) == 0 {
		s.process.Die()
		s.mill.mu.Lock()
		s.mill.stops++
		s.mill.mu.Unlock()
		time.Sleep(time.Duration(1+s.mill.intN(12)) * time.Second)
	}
	time.Sleep(time.Duration(s.mill.intN(10)) * time.Millisecond)
}

func (s *unsteady) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	s.pass()
	cells, err := s.Table.Read(ctx, row, sel...)
	s.pass()
	return cells, err
}

func (s *unsteady) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	s.pass()
	return s.Table.Scan(ctx, r, fn)
}

func (s *unsteady) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	s.pass()
	if s.mill.intN(60) == 0 { // the network delivers it later
		wait := time.Duration(s.mill.intN(12000)) * time.Millisecond
		s.mill.late.Go(func() {
			time.Sleep(wait)
			_, _ = s.Table.Mutate(context.Background(), m)
		})
		return store.Result{}, store.ErrUnavailable
	}
	res, err := s.Table.Mutate(context.WithoutCancel(ctx), m)
	s.pass()
	if s.mill.intN(40) == 0 {
		return store.Result{}, store.ErrUnavailable
	}
	return res, err
}

// Apply does not stop before the call: between its last look at its token and the writes of its
// other cells, a process that is stopped can still do harm (txn/commit.go, finish).
func (s *unsteady) Apply(ctx context.Context, rows []store.RowMutation) error {
	err := s.Table.Apply(context.WithoutCancel(ctx), rows)
	s.pass()
	return err
}
