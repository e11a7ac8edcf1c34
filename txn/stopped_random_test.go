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

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
)

// TestProcessesStopAnywhere: processes move amounts between cells, and are stopped before or after
// any call of the table for so long that others find them dead. Some guarded writes arrive late,
// when their process has given up on them. Collectors run all the time. No amount is lost or made,
// and a transaction has happened exactly if its process says so.
func TestProcessesStopAnywhere(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(10, 30, 5000))) {
		synctest.Test(t, func(t *testing.T) { newTown(t, seed).run() })
	}
}

const (
	townCells = 4
	townSum   = 100
)

// town is a table with processes that come and go.
type town struct {
	t     *testing.T
	table store.Table
	o     *office

	mu      sync.Mutex
	random  *rand.Rand
	markers map[string]error // of all transactions that ended: what they reported
	stopped int
	late    sync.WaitGroup // writes on their way
}

func newTown(t *testing.T, seed uint64) *town {
	return &town{t: t, table: sharedTable(t), o: &office{}, random: rand.New(rand.NewPCG(seed, 0)), markers: make(map[string]error)}
}

func (w *town) intN(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

func (w *town) run() {
	first, _ := openShared(w.t, w.table, w.o, Options{})
	run(w.t, first, func(tx *Txn) { w.set(tx, 0, townSum) })
	ctx, stop := context.WithTimeout(w.t.Context(), 2*time.Minute)
	defer stop()
	var work sync.WaitGroup
	for id := range 3 {
		work.Go(func() {
			for life := 0; ctx.Err() == nil; life++ {
				w.live(ctx, fmt.Sprintf("%d.%d", id, life))
			}
		})
	}
	work.Go(func() {
		for ctx.Err() == nil {
			if _, err := first.Collect(ctx, CollectOptions{}); err != nil && !errors.Is(err, errLocksHeld) && ctx.Err() == nil {
				w.t.Error("collect:", err)
			}
			time.Sleep(300 * time.Millisecond)
		}
	})
	work.Wait()
	w.late.Wait()
	w.check(first)
}

// live is the life of a process, until others find it dead.
func (w *town) live(ctx context.Context, name string) {
	c, d := w.o.join()
	db, err := Open(ctx, &interrupted{Table: w.table, town: w, desk: d}, Options{Coordination: c})
	if err != nil {
		return
	}
	defer func() { _ = db.Close() }()
	for i := 0; ctx.Err() == nil && d.Valid() == nil; i++ {
		marker := fmt.Sprintf("%s.%d", name, i)
		err := w.move(ctx, db, marker)
		w.mu.Lock()
		w.markers[marker] = err
		w.mu.Unlock()
	}
}

// move makes one attempt at a transaction.
func (w *town) move(ctx context.Context, db *DB, marker string) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	from, to, n := w.intN(townCells), w.intN(townCells), 1+w.intN(townSum)
	a, err := w.get(ctx, tx, from)
	if err != nil {
		return err
	}
	b, err := w.get(ctx, tx, to)
	if err != nil {
		return err
	}
	if from != to {
		n = min(n, a)
		w.set(tx, from, a-n)
		w.set(tx, to, b+n)
	}
	tx.Create("marker "+marker, app("m"), nil)
	if w.intN(3) == 0 {
		if _, err := tx.GetForUpdate(ctx, fmt.Sprint("account ", w.intN(townCells)), app("c")); err != nil {
			return err
		}
	}
	if err := w.audit(ctx, tx); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}

// audit adds up what a transaction sees, its own writes included.
func (w *town) audit(ctx context.Context, tx *Txn) error {
	sum := 0
	err := tx.ScanPrefix(ctx, "app", "account ", func(_ string, cols []Version) error {
		n, err := amount(cols[0].Value)
		sum += n
		return err
	})
	if err == nil && sum != townSum {
		w.t.Errorf("a transaction at %d sees a sum of %d", tx.Start(), sum)
	}
	return err
}

// set deletes the cell of an empty account. Others are in the write record, or apart from it.
func (w *town) set(tx *Txn, i, n int) {
	row := fmt.Sprint("account ", i)
	if n == 0 {
		tx.Delete(row, app("c"))
		return
	}
	tx.Set(row, app("c"), append([]byte(fmt.Sprint(n, " ")), make([]byte, w.intN(2)*300)...))
}

func (w *town) get(ctx context.Context, tx *Txn, i int) (int, error) {
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

func (w *town) check(db *DB) {
	w.t.Helper()
	tx := mustBegin(w.t, db)
	defer tx.Rollback()
	if err := w.audit(w.t.Context(), tx); err != nil {
		w.t.Error(err)
	}
	for marker, said := range w.markers {
		v, err := tx.Get(w.t.Context(), "marker "+marker, app("m"))
		switch {
		case err != nil:
			w.t.Error(err)
		case v.Exists && said != nil && !errors.Is(said, ErrUnknown):
			w.t.Errorf("transaction %s has happened, and said %v", marker, said)
		case !v.Exists && said == nil:
			w.t.Errorf("transaction %s has not happened, and said so", marker)
		}
	}
	w.t.Logf("%d transactions, %d stops", len(w.markers), w.stopped)
	if _, err := db.Check(w.t.Context(), CheckOptions{}, func(p Problem) { w.t.Error(p) }); err != nil {
		w.t.Error(err)
	}
}

// interrupted is the table of a process that is stopped now and then.
type interrupted struct {
	store.Table
	town *town
	desk *desk
}

// pass takes a moment, or stops the process for a long time.
func (s *interrupted) pass() {
	if s.town.intN(60) == 0 {
		s.desk.die()
		s.town.mu.Lock()
		s.town.stopped++
		s.town.mu.Unlock()
		time.Sleep(time.Duration(1+s.town.intN(8)) * time.Second)
	}
	time.Sleep(time.Duration(s.town.intN(10)) * time.Millisecond)
}

func (s *interrupted) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	s.pass()
	cells, err := s.Table.Read(ctx, row, sel...)
	s.pass()
	return cells, err
}

func (s *interrupted) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	s.pass()
	next, err := s.Table.Scan(ctx, r, fn)
	s.pass()
	return next, err
}

func (s *interrupted) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	s.pass()
	if s.town.intN(30) == 0 { // the network delivers it later
		wait := time.Duration(s.town.intN(12000)) * time.Millisecond
		s.town.late.Go(func() {
			time.Sleep(wait)
			_, _ = s.Table.Mutate(context.Background(), m)
		})
		return store.Result{}, store.ErrUnavailable
	}
	res, err := s.Table.Mutate(context.WithoutCancel(ctx), m)
	s.pass()
	if s.town.intN(20) == 0 {
		return store.Result{}, store.ErrUnavailable
	}
	return res, err
}

// Apply does not stop before the call: between its last look at its token and the writes of its
// other cells, a process that is stopped can still do harm (see finish).
func (s *interrupted) Apply(ctx context.Context, rows []store.RowMutation) error {
	err := s.Table.Apply(context.WithoutCancel(ctx), rows)
	s.pass()
	return err
}
