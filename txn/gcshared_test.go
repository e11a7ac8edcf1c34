package txn

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/faulty"
)

// setC commits a value of the cell, or its deletion.
func setC(t *testing.T, db *DB, value string) (commit uint64) {
	t.Helper()
	commit, err := db.Run(context.Background(), func(tx *Txn) error {
		if value == "" {
			tx.Delete("row", app("c"))
		} else {
			tx.Set("row", app("c"), []byte(value))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return commit
}

func wantValue(t *testing.T, tx *Txn, want string) {
	t.Helper()
	if v, err := tx.Get(context.Background(), "row", app("c")); err != nil || string(v.Data) != want {
		t.Errorf("at %d: %q, %v; want %q", tx.Start(), v.Data, err, want)
	}
}

// publishAll stands in for the second that passes between two publications.
func publishAll(t *testing.T, dbs ...*DB) {
	t.Helper()
	for _, db := range dbs {
		if err := db.publishReaders(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func collect(t *testing.T, db *DB) Collected {
	t.Helper()
	got, err := db.Collect(t.Context(), CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// versions counts the write records of the cell.
func versions(t *testing.T, table store.Table) int {
	t.Helper()
	cells, err := table.Read(t.Context(), []byte("row"), store.Selector{Group: "app", Column: recordColumn(kindWrite, "c")})
	if err != nil {
		t.Fatal(err)
	}
	return len(cells)
}

// TestStoppedAfterTheCommitPoint: a process is stopped right after its commit point. Others find
// it dead, roll its transaction forward, delete the cell, and collect the deletion. When it goes
// on, it must not write the cell again.
func TestStoppedAfterTheCommitPoint(t *testing.T) {
	table, coordinator := sharedTable(t), sharedtest.New()
	b, _ := openShared(t, table, coordinator, Options{})
	var stopped *sharedtest.Process
	a, joined := openShared(t, table, coordinator, Options{Step: func(step string, _ Cell) error {
		if step == stepPrimaryCommitted {
			stopped.Die()
			tx := mustBegin(t, b)
			wantValue(t, tx, "of a")
			tx.Rollback()
			setC(t, b, "")
			publishAll(t, b)
			if got := collect(t, b); got.Deletions != 1 || versions(t, table) != 0 {
				t.Errorf("collected %+v, and %d versions are left", got, versions(t, table))
			}
		}
		return nil
	}})
	stopped = joined
	_, err := a.Run(t.Context(), func(tx *Txn) error {
		tx.Set("primary", app("c"), nil)
		tx.Set("row", app("c"), []byte("of a"))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	tx := mustBegin(t, b)
	defer tx.Rollback()
	wantValue(t, tx, "")
}

// stoppedAt is a table whose process is stopped at its commit point: the answer is lost.
type stoppedAt struct {
	store.Table
	stop func()
}

func (s *stoppedAt) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	res, err := s.Table.Mutate(ctx, m)
	if s.stop != nil && m.Require != nil && err == nil {
		s.stop()
		return store.Result{Outcome: store.Unknown}, store.ErrUnavailable
	}
	return res, err
}

// TestStoppedAtTheCommitPoint: a process is stopped while the answer of its commit point is on the
// way. Others find it dead, overwrite the primary, and collect what it committed there. When it
// goes on, it finds nothing at the primary. It must not mistake that for a rollback.
func TestStoppedAtTheCommitPoint(t *testing.T) {
	inner, coordinator := sharedTable(t), sharedtest.New()
	table := &stoppedAt{Table: inner}
	a, process := openShared(t, table, coordinator, Options{})
	b, _ := openShared(t, inner, coordinator, Options{})
	table.stop = func() {
		process.Die()
		run(t, b, func(tx *Txn) { tx.Set("primary", app("c"), []byte("of b")) })
		mustBegin(t, b).Rollback()
		publishAll(t, b)
		collect(t, b)
	}
	long := strings.Repeat("of a ", 100)
	tx := mustBegin(t, a)
	defer tx.Rollback()
	tx.Set("primary", app("c"), []byte("of a"))
	tx.Set("row", app("c"), []byte(long))
	if _, err := tx.Commit(t.Context()); !errors.Is(err, ErrUnknown) {
		t.Errorf("Commit: %v; want an unknown outcome", err)
	}
	reader := mustBegin(t, b)
	defer reader.Rollback()
	wantValue(t, reader, long)
}

// TestOpenThatFailsLeavesNoBound: a process that cannot open a table may live on. A bound that it
// left behind would keep all others from collecting anything.
func TestOpenThatFailsLeavesNoBound(t *testing.T) {
	for n := 1; ; n++ {
		inner := sharedTable(t)
		table, _ := faulty.Wrap(inner, faulty.Plan{N: n, Fault: faulty.Fail})
		c := coordination(sharedtest.New().Join())
		db, err := Open(t.Context(), table, Options{Coordination: c})
		if err == nil {
			_ = db.Close() // whose operation may be the one that fails
			if n < 5 {
				t.Errorf("Open has made %d operations", n-1)
			}
			return
		}
		_, err = inner.Scan(t.Context(), store.Range{Group: metaGroup}, func(c store.Cell) error {
			if OfProcess(c) {
				t.Errorf("operation %d fails, and row %q stays", n, c.Row)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestReadersOfOtherProcesses(t *testing.T) {
	table, coordinator := sharedTable(t), sharedtest.New()
	a, _ := openShared(t, table, coordinator, Options{})
	b, process := openShared(t, table, coordinator, Options{})
	setC(t, a, "one")
	reader := mustBegin(t, b)
	past := reader.Start()
	setC(t, a, "two")
	setC(t, a, "")

	publishAll(t, a, b)
	collect(t, a)
	wantValue(t, reader, "one")
	reader.Rollback()

	// A reader of the past that is in time holds the safe point, and so does a pin.
	pin, err := b.Pin(t.Context(), Pin{Name: "p", TS: past})
	if err != nil {
		t.Fatal(err)
	}
	publishAll(t, a, b)
	collect(t, a)
	old := b.At(pin.TS)
	wantValue(t, old, "one")
	old.Rollback()
	if err := a.Unpin(t.Context(), "p"); err != nil {
		t.Error(err)
	}
	if n := versions(t, table); n != 3 {
		t.Errorf("%d versions, want all 3", n)
	}

	// Once both are gone, everything is collected.
	publishAll(t, a, b)
	collect(t, a)
	if n := versions(t, table); n != 0 {
		t.Errorf("%d versions of a deleted cell", n)
	}
	late := b.At(past)
	if _, err := late.Get(t.Context(), "row", app("c")); !errors.Is(err, ErrBelowSafePoint) {
		t.Errorf("a reader that is too late: %v", err)
	}
	late.Rollback()
	if _, err := b.Pin(t.Context(), Pin{Name: "q", TS: past}); !errors.Is(err, ErrBelowSafePoint) || len(pinsOf(t, b)) > 0 {
		t.Errorf("a pin that is too late: %v, %v", err, pinsOf(t, b))
	}

	// A process that others consider dead holds nothing, and gets nothing.
	setC(t, a, "three")
	reader, writer := mustBegin(t, b), mustBegin(t, b)
	wantValue(t, writer, "three")
	setC(t, a, "four")
	writer.Set("other", app("c"), nil)
	process.Die()
	publishAll(t, a)
	collect(t, a)
	if n := versions(t, table); n != 1 {
		t.Errorf("%d versions after the only reader died", n)
	}
	if v, err := reader.Get(t.Context(), "row", app("c")); !errors.Is(err, ErrConflict) {
		t.Errorf("a dead process reads %q, %v", v.Data, err)
	}
	reader.Rollback()
	if _, err := writer.Commit(t.Context()); !errors.Is(err, ErrConflict) || !errors.Is(err, sharedtest.ErrDead) {
		t.Errorf("a dead process commits: %v", err)
	}
}

// TestReaderAndCollectorMeet: a reader of the past and a collector run at the same time, and
// stop each other between any two of their steps. Whatever the order, a reader that is not
// refused reads what it should.
func TestReaderAndCollectorMeet(t *testing.T) {
	random := testenv.Random(t)
	for range testenv.Size(50, 200, 10_000) {
		table, coordinator := sharedTable(t), sharedtest.New()
		turns := &turns{Table: table, random: random}
		a, _ := openShared(t, turns, coordinator, Options{})
		b, _ := openShared(t, turns, coordinator, Options{})
		past := setC(t, a, "one")
		setC(t, a, "")
		publishAll(t, a, b)
		var work sync.WaitGroup
		turns.on = true
		work.Go(func() {
			if _, err := a.advance(t.Context()); err == nil {
				got := Collected{SafePoint: a.SafePoint()}
				if err := a.sweep(t.Context(), &got, CollectOptions{}); err != nil {
					t.Error(err)
				}
			} else if !errors.Is(err, errReadersBelow) {
				t.Error(err)
			}
		})
		work.Go(func() {
			tx := b.At(past)
			defer tx.Rollback()
			for range 3 {
				v, err := tx.GetOnce(t.Context(), "row", app("c"))
				if errors.Is(err, ErrBelowSafePoint) {
					return
				}
				if err != nil || string(v.Data) != "one" {
					t.Errorf("at %d: %q, %v", past, v.Data, err)
				}
			}
		})
		work.Wait()
		turns.on = false
		if t.Failed() {
			return
		}
	}
}

// turns yields at random before each call, so that goroutines interleave.
type turns struct {
	store.Table
	mu     sync.Mutex
	random *rand.Rand
	on     bool
}

func (s *turns) turn() {
	if !s.on {
		return
	}
	s.mu.Lock()
	n := s.random.IntN(2000)
	s.mu.Unlock()
	for range n {
		bytes.Count(make([]byte, 16), []byte{1})
	}
}

func (s *turns) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	s.turn()
	return s.Table.Read(ctx, row, sel...)
}

func (s *turns) Apply(ctx context.Context, rows []store.RowMutation) error {
	s.turn()
	return s.Table.Apply(ctx, rows)
}

func (s *turns) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	s.turn()
	return s.Table.Scan(ctx, r, fn)
}

// TestReaderJustInTime: a reader of the past asks after a collector has read the bounds, and
// before it publishes the safe point. The collector must look again.
func TestReaderJustInTime(t *testing.T) {
	table, coordinator := sharedTable(t), sharedtest.New()
	hook := &beforeWrite{Table: table}
	a, _ := openShared(t, hook, coordinator, Options{})
	b, _ := openShared(t, table, coordinator, Options{})
	past := setC(t, a, "one")
	setC(t, a, "")
	publishAll(t, a, b)
	tx := b.At(past)
	defer tx.Rollback()
	hook.row, hook.do = gcRow, func() { wantValue(t, tx, "one") }
	if ts, err := a.advance(t.Context()); !errors.Is(err, errReadersBelow) {
		t.Errorf("the safe point is %d, %v; a reader at %d was admitted", ts, err, past)
	}
	if hook.do != nil {
		t.Error("the safe point was not published")
	}
}
