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
// collected all the time. In the end every change has reached the last column. No observer has
// committed more runs for a row than it got notifications: one for each change, and those that runs
// of the observer upstream left although they failed.
func TestWorkersStopAnywhere(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(5, 15, 1000))) {
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stopTest{
					fleet:         newFleet(t),
					Interruptions: &sharedtest.Interruptions{Stop: 150, Late: 60, Lost: 40, MaxStop: 12, Random: rand.New(rand.NewPCG(seed, 5))},
					failed:        make(map[string]int),
				}
				s.run()
			})
		}) {
			return
		}
	}
}

const (
	stopRows    = 6
	stopChanges = 60
)

// stopTest is a table with processes that are stopped and replaced.
type stopTest struct {
	*fleet
	*sharedtest.Interruptions
	changes [stopRows]int

	mu     sync.Mutex
	failed map[string]int // by row: runs of first that failed
}

// observers pass on what is in a to b, and from there to c, and count their runs.
func (s *stopTest) observers() []Observer {
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

func (s *stopTest) open(table store.Table, process *sharedtest.Process, workers int) (*rig, error) {
	registry, err := NewRegistry(s.observers()...)
	if err != nil {
		s.t.Fatal(err)
	}
	p := New(registry, Options{Workers: workers, Attempts: 1000, Capacity: 2 + s.IntN(20), Events: Events{Tried: s.tried}})
	db, err := txn.Open(context.Background(), table, txn.Options{Observers: registry.Observers, Handover: p.Handover, Coordination: &txn.Coordination{Timestamps: process, Liveness: process, RowLocks: process}})
	if err != nil {
		return nil, err
	}
	r := &rig{s.t, db, p, table}
	if workers == 0 {
		err = p.Attach(context.Background(), db)
	} else {
		err = p.Start(context.Background(), db)
	}
	return r, err
}

func (s *stopTest) tried(a Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range a.Rows {
		if a.Observer == "first" && a.Err != nil {
			s.failed[row]++
		}
	}
}

func (s *stopTest) run() {
	first, err := s.open(s.table, s.coordinator.Join(), 0)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var work sync.WaitGroup
	for range 3 {
		work.Go(func() {
			for ctx.Err() == nil {
				s.live(ctx)
			}
		})
	}
	work.Go(func() {
		for ctx.Err() == nil {
			_, _ = first.db.Collect(ctx, txn.CollectOptions{}) // it may have to wait for locks
			time.Sleep(500 * time.Millisecond)
		}
	})
	for i := range stopChanges {
		row := s.IntN(stopRows)
		first.set(fmt.Sprint("row ", row), "a", strconv.Itoa(i))
		s.changes[row]++
		time.Sleep(time.Duration(s.IntN(1500)) * time.Millisecond)
	}
	within, cancel := context.WithTimeout(ctx, 2*time.Hour)
	ts, err := first.p.Quiesce(within)
	cancel()
	stop()
	work.Wait()
	s.Wait()
	if err != nil {
		s.t.Fatal(err)
	}
	s.check(first, ts)
	first.close()
}

func (s *stopTest) check(r *rig, ts uint64) {
	ctx := context.Background()
	tx := r.db.At(ts)
	defer tx.Rollback()
	for i := range stopRows {
		row := fmt.Sprint("row ", i)
		a, err := number(ctx, tx, row, "a")
		c, err2 := number(ctx, tx, row, "c")
		first, err3 := number(ctx, tx, row, "runs of b")
		second, err4 := number(ctx, tx, row, "runs of c")
		if err := errors.Join(err, err2, err3, err4); err != nil {
			s.t.Fatal(err)
		}
		if a != c || first > s.changes[i] || second > first+s.failed[row] {
			s.t.Errorf("%s: a is %d and c is %d, after %d changes, %d runs of first, %d failed runs of it and %d runs of second", row, a, c, s.changes[i], first, s.failed[row], second)
		}
	}
	s.t.Logf("%d stops", s.Stops())
	if _, err := r.db.Check(ctx, txn.CheckOptions{}, func(p txn.Problem) { s.t.Error(p) }); err != nil {
		s.t.Error(err)
	}
}

// live is the life of a process, until others find it dead.
func (s *stopTest) live(ctx context.Context) {
	process := s.coordinator.Join()
	r, err := s.open(s.Wrap(s.table, process), process, 2)
	if r != nil {
		for err == nil && ctx.Err() == nil && process.Valid() == nil && r.p.Err() == nil {
			time.Sleep(100 * time.Millisecond)
		}
		_ = r.p.Stop()
		_ = r.db.Close()
	}
	process.Die()
}
