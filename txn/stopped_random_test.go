package txn

import (
	"bytes"
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
)

// TestProcessesStopAnywhere: processes move amounts between cells, and are stopped before or after
// any call of the table for so long that others find them dead. Some guarded writes arrive late,
// when their process has given up on them. Collectors run all the time. No amount is lost or made,
// and a transaction has happened exactly if its process says so.
func TestProcessesStopAnywhere(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(10, 30, 5000))) {
		synctest.Test(t, func(t *testing.T) { newStopTest(t, seed).run() })
	}
}

const (
	stopCells = 4
	stopSum   = 100
)

// stopTest is a table with processes that are stopped and replaced.
type stopTest struct {
	*sharedtest.Interruptions
	t           *testing.T
	table       store.Table
	coordinator *sharedtest.Coordinator

	mu      sync.Mutex
	markers map[string]error // of all transactions that ended: what they reported
}

func newStopTest(t *testing.T, seed uint64) *stopTest {
	return &stopTest{
		Interruptions: &sharedtest.Interruptions{Stop: 60, Late: 30, Lost: 20, MaxStop: 8, Random: rand.New(rand.NewPCG(seed, 0))},
		t:             t, table: sharedTable(t), coordinator: sharedtest.New(), markers: make(map[string]error),
	}
}

func (s *stopTest) run() {
	first, _ := openShared(s.t, s.table, s.coordinator, Options{})
	run(s.t, first, func(tx *Txn) { s.set(tx, 0, stopSum) })
	ctx, stop := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer stop()
	var work sync.WaitGroup
	for id := range 3 {
		work.Go(func() {
			for life := 0; ctx.Err() == nil; life++ {
				s.live(ctx, fmt.Sprintf("%d.%d", id, life))
			}
		})
	}
	work.Go(func() {
		for ctx.Err() == nil {
			if _, err := first.Collect(ctx, CollectOptions{}); err != nil && !errors.Is(err, errLocksHeld) && ctx.Err() == nil {
				s.t.Error("collect:", err)
			}
			time.Sleep(300 * time.Millisecond)
		}
	})
	work.Wait()
	s.Wait()
	s.check(first)
}

// live is the life of a process, until others find it dead.
func (s *stopTest) live(ctx context.Context, name string) {
	process := s.coordinator.Join()
	db, err := Open(ctx, s.Wrap(s.table, process), Options{Coordination: coordination(process)})
	if err != nil {
		return
	}
	defer func() { _ = db.Close() }()
	for i := 0; ctx.Err() == nil && process.Valid() == nil; i++ {
		marker := fmt.Sprintf("%s.%d", name, i)
		err := s.move(ctx, db, marker)
		s.mu.Lock()
		s.markers[marker] = err
		s.mu.Unlock()
	}
}

// move makes one attempt at a transaction.
func (s *stopTest) move(ctx context.Context, db *DB, marker string) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	from, to, n := s.IntN(stopCells), s.IntN(stopCells), 1+s.IntN(stopSum)
	a, err := s.get(ctx, tx, from)
	if err != nil {
		return err
	}
	b, err := s.get(ctx, tx, to)
	if err != nil {
		return err
	}
	if from != to {
		n = min(n, a)
		s.set(tx, from, a-n)
		s.set(tx, to, b+n)
	}
	tx.Create("marker "+marker, app("m"), nil)
	if s.IntN(3) == 0 {
		if _, err := tx.GetForUpdate(ctx, fmt.Sprint("account ", s.IntN(stopCells)), app("c")); err != nil {
			return err
		}
	}
	if err := s.audit(ctx, tx); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}

// audit adds up what a transaction sees, its own writes included.
func (s *stopTest) audit(ctx context.Context, tx *Txn) error {
	sum := 0
	err := tx.ScanPrefix(ctx, "app", "account ", func(_ string, cols []Version) error {
		n, err := amount(cols[0].Value)
		sum += n
		return err
	})
	if err == nil && sum != stopSum {
		s.t.Errorf("a transaction at %d sees a sum of %d", tx.Start(), sum)
	}
	return err
}

// set deletes the cell of an empty account. Others are in the write record, or apart from it.
func (s *stopTest) set(tx *Txn, i, n int) {
	row := fmt.Sprint("account ", i)
	if n == 0 {
		tx.Delete(row, app("c"))
		return
	}
	tx.Set(row, app("c"), append([]byte(fmt.Sprint(n, " ")), make([]byte, s.IntN(2)*300)...))
}

func (s *stopTest) get(ctx context.Context, tx *Txn, i int) (int, error) {
	v, err := tx.Get(ctx, fmt.Sprint("account ", i), app("c"))
	if err != nil || !v.Exists {
		return 0, err
	}
	return amount(v)
}

func amount(v Value) (int, error) {
	text, _, _ := bytes.Cut(v.Data, []byte(" "))
	return strconv.Atoi(string(text))
}

func (s *stopTest) check(db *DB) {
	s.t.Helper()
	tx := mustBegin(s.t, db)
	defer tx.Rollback()
	if err := s.audit(s.t.Context(), tx); err != nil {
		s.t.Error(err)
	}
	for marker, said := range s.markers {
		v, err := tx.Get(s.t.Context(), "marker "+marker, app("m"))
		switch {
		case err != nil:
			s.t.Error(err)
		case v.Exists && said != nil && !errors.Is(said, ErrUnknown):
			s.t.Errorf("transaction %s has happened, and said %v", marker, said)
		case !v.Exists && said == nil:
			s.t.Errorf("transaction %s has not happened, and said so", marker)
		}
	}
	s.t.Logf("%d transactions, %d stops", len(s.markers), s.Stops())
	if _, err := db.Check(s.t.Context(), CheckOptions{}, func(p Problem) { s.t.Error(p) }); err != nil {
		s.t.Error(err)
	}
}
