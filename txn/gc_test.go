package txn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/faulty"
)

// TestBankCollects is the bank with a collector that never rests: transfers, audits,
// crashes, stuck owners, and collections all at once.
func TestBankCollects(t *testing.T) {
	transfers := 300
	if testing.Short() {
		transfers = 100
	}
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		b := &bank{t: t, accounts: 8}
		b.db = open(t, table, Options{Mode: mode, Step: b.crash, LockTTL: 30 * time.Millisecond})
		c, err := b.db.NewCollector(t.Context(), CollectOptions{
			Queue: idle{}, Share: 1, Every: time.Microsecond, Failed: func(err error) { t.Error(err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		b.deposit()
		var working, beside sync.WaitGroup
		stop := make(chan struct{})
		beside.Go(func() { b.audit(stop) })
		beside.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := b.db.Collect(t.Context(), CollectOptions{Queue: idle{}}); err != nil && !errors.Is(err, errLocksHeld) {
					t.Error(err)
				}
			}
		})
		for w := range 3 {
			working.Go(func() {
				for i := range transfers / 3 {
					b.transfer(w, i)
				}
			})
		}
		working.Wait()
		close(stop)
		beside.Wait()
		b.crashing.Store(false)
		if err := c.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		b.checkCounts()
		got, err := b.db.Collect(t.Context(), CollectOptions{Queue: idle{}})
		if err != nil {
			t.Error(err)
		}
		if n := b.db.point.readers.count(); n != 0 {
			t.Errorf("%d readers are still registered", n)
		}
		t.Logf("collector: %+v; at the end: %+v", c.Total(), got)
		for cell, n := range versionsOf(t, table) {
			if n != 1 {
				t.Errorf("%s has %d records", cell, n)
			}
		}
		if err := b.db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// versionsOf counts the records of each column, but for data.
func versionsOf(t testing.TB, table store.Table) map[string]int {
	t.Helper()
	n := make(map[string]int)
	for _, g := range []string{"app", "other"} {
		_, err := table.Scan(context.Background(), store.Range{Group: g}, func(c store.Cell) error {
			if c.Column[0] != kindData {
				n[fmt.Sprintf("%s %s", c.Row, c.Column[1:])]++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// TestCollectFaults stops a collection at each of its operations, as a crash or a
// failing store would, or lets an answer be lost. All that a reader, a pin and the
// next process can read stays what it was; and the next collection completes.
func TestCollectFaults(t *testing.T) {
	for _, m := range modes {
		for _, fault := range []faulty.Fault{faulty.Fail, faulty.Lost, faulty.Late} {
			t.Run(m.name+"/"+fault.String(), func(t *testing.T) {
				for n, met := 1, true; met && !t.Failed(); n++ {
					synctest.Test(t, func(t *testing.T) {
						met = runCollectFault(t, m.mode, faulty.Plan{N: n, Fault: fault})
					})
					if !met && n < 8 {
						t.Errorf("a collection has only %d operations", n-1)
					}
				}
			})
		}
	}
}

// runCollectFault collects with a fault the garbage of a process that died in mid-commit, and
// checks that what could be read before can be read after it. It reports whether the fault
// was met.
func runCollectFault(t *testing.T, mode Mode, plan faulty.Plan) bool {
	ctx := t.Context()
	inner := openMem(t, Groups("app", "other"))
	defer closeTable(t, inner)
	db := open(t, inner, Options{Mode: mode, Observers: func(Column) []string { return []string{"o"} }})
	random := rand.New(rand.NewPCG(7, 7))
	makeGarbage(t, db, random)
	pin, err := db.Pin(ctx, Pin{Name: "p"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint64][]string{pin.TS: readAt(t, db, pin.TS)}
	makeGarbage(t, db, random)
	abandonCommit(t, db)

	table, probe := faulty.Wrap(inner, plan)
	next, err := Open(ctx, table, Options{Mode: mode})
	if err == nil {
		_, err = next.Collect(ctx, CollectOptions{Queue: idle{}})
		if cerr := next.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil && !errors.Is(err, faulty.ErrInjected) {
		t.Errorf("%+v: %v", plan, err)
	}
	_, _ = table.Read(ctx, nil) // what was held back happens
	db = open(t, inner, Options{Mode: mode})
	last := db.LastTimestamp()
	want[last] = readAt(t, db, last)
	check := func() {
		for ts, rows := range want {
			if got := readAt(t, db, ts); fmt.Sprint(got) != fmt.Sprint(rows) {
				t.Errorf("%+v: at %d: %v, want %v", plan, ts, got, rows)
			}
		}
	}
	check()
	if _, err := db.Collect(ctx, CollectOptions{Queue: idle{}}); err != nil {
		t.Error(err)
	}
	check()
	if v := readAt(t, db, db.LastTimestamp()); len(v) < 2 {
		t.Errorf("what was committed last is gone: %v", v)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	return probe.Met()
}

// makeGarbage writes four cells again and again, and deletes them now and then.
func makeGarbage(t *testing.T, db *DB, random *rand.Rand) {
	t.Helper()
	for range 60 {
		run(t, db, func(tx *Txn) {
			row := fmt.Sprint("row", random.IntN(4))
			if random.IntN(4) == 0 {
				tx.Delete(row, app("c"))
			} else {
				tx.Set(row, app("c"), make([]byte, random.IntN(2)*300+random.IntN(5)))
			}
			tx.Set(row, Column{"other", "c"}, []byte(row))
		})
	}
}

// abandonCommit closes the DB as a process leaves it that dies with the primary of a
// transaction committed.
func abandonCommit(t *testing.T, db *DB) {
	t.Helper()
	tx := mustBegin(t, db)
	tx.Set("row1", app("c"), []byte("x"))
	tx.Set("row2", app("c"), []byte("y"))
	db.opts.Step = func(step string, _ Cell) error {
		if step == stepCommitSecondary {
			return ErrCrash
		}
		return nil
	}
	if _, err := tx.Commit(t.Context()); err != nil && !errors.Is(err, ErrCrash) {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func readAt(t *testing.T, db *DB, ts uint64) (rows []string) {
	t.Helper()
	tx := db.At(ts)
	defer tx.Rollback()
	for _, group := range []string{"app", "other"} {
		err := tx.Scan(t.Context(), group, "", "", func(row string, cols []Version) error {
			for _, c := range cols {
				rows = append(rows, fmt.Sprintf("%s %s %d bytes @ %d", row, c.Name, len(c.Data), c.TS))
			}
			return nil
		})
		if err != nil {
			t.Errorf("at %d: %v", ts, err)
		}
	}
	return rows
}

// A cell that is written all the time never has more versions than were written
// between two steps of the collector.
func TestHotCell(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		db := open(t, table, Options{Mode: mode})
		c := &Collector{db: db} // the test takes its steps
		db.gc.queue.on.Store(true)
		const between = 20
		for i := range 2000 {
			_, err := db.Run(t.Context(), func(tx *Txn) error {
				tx.Set("hot", app("c"), []byte(fmt.Sprint(i)))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if i%between == between-1 {
				if err := c.step(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if n := versionsOf(t, table)["hot c"]; n != 1 {
					t.Fatalf("%d versions after a step", n)
				}
			}
		}
		if got := c.Total(); got.Cells != 2000/between || got.Versions != 1999 {
			t.Errorf("%+v: want a look at the cell in each step, and all versions but one", got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// The collector works on its own; a sweep finds what does not fit into its queue, and
// what an earlier process left.
func TestCollectorSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app", "other"))
		defer closeTable(t, table)
		write := func(db *DB, rows int) {
			for i := range rows {
				_, err := db.Run(t.Context(), func(tx *Txn) error {
					tx.Set(fmt.Sprint("row", i), app("c"), []byte("x"))
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		db := open(t, table, Options{})
		write(db, 100)
		c, err := db.NewCollector(t.Context(), CollectOptions{Queue: idle{}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.NewCollector(t.Context(), CollectOptions{}); err == nil {
			t.Error("two collectors")
		}
		write(db, 100)
		time.Sleep(time.Minute)
		if got := c.Total(); got.Versions != 100 || c.swept != 0 {
			t.Errorf("%+v after %d sweeps", got, c.swept)
		}
		write(db, gcQueueCells+100) // 100 too many
		write(db, gcQueueCells+100)
		time.Sleep(10 * time.Minute)
		if got := c.Total(); got.Versions != 100+100+gcQueueCells+100 || c.swept != 1 {
			t.Errorf("%+v after %d sweeps", got, c.swept)
		}
		c.cancel() // as if the process died
		c.work.Wait()
		write(db, 50)
		if err := db.Close(); err != nil {
			t.Error(err)
		}

		db = open(t, table, Options{})
		if c, err = db.NewCollector(t.Context(), CollectOptions{Queue: idle{}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if got := c.Total(); got.Versions != 50 || c.swept != 1 {
			t.Errorf("the next process: %+v after %d sweeps", got, c.swept)
		}
		write(db, 7)
		if err := c.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if got := c.Total(); got.Versions != 57 {
			t.Errorf("after Stop: %+v", got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}

		db = open(t, table, Options{}) // the last one left nothing: no sweep
		if c, err = db.NewCollector(t.Context(), CollectOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if got := c.Total(); got.Cells != 0 || c.swept != 0 {
			t.Errorf("with nothing left: %+v after %d sweeps", got, c.swept)
		}
		if err := errors.Join(c.Stop(t.Context()), db.Close()); err != nil {
			t.Error(err)
		}
	})
}

// With a history of an hour, the state of any time within it can be read, even by
// the next process; and afterwards the versions are collected.
func TestHistoryIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app", "other"))
		defer closeTable(t, table)
		opts := Options{History: time.Hour}
		db := open(t, table, opts)
		began := time.Now()
		type state struct {
			at    time.Time
			ts    uint64
			value string
		}
		var states []state
		for i := range 180 {
			if i == 90 {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
				db = open(t, table, opts)
			}
			value := fmt.Sprint(i)
			commit, err := db.Run(t.Context(), func(tx *Txn) error {
				tx.Set("row", app("c"), []byte(value))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			states = append(states, state{time.Now(), commit, value})
			time.Sleep(time.Minute)
			if _, err := db.Collect(t.Context(), CollectOptions{}); err != nil {
				t.Fatal(err)
			}
			for _, s := range states {
				tx := db.At(s.ts)
				v, err := tx.Get(t.Context(), "row", app("c"))
				tx.Rollback()
				age := time.Since(s.at)
				switch {
				case err == nil && string(v.Data) != s.value:
					t.Fatalf("at %v, the value of %v ago is %q, want %q", time.Since(began), age, v.Data, s.value)
				case age <= time.Hour && err != nil:
					t.Fatalf("at %v, the value of %v ago: %v", time.Since(began), age, err)
				case age > time.Hour+3*time.Minute && !errors.Is(err, ErrBelowSafePoint):
					t.Fatalf("at %v, the value of %v ago can still be read: %v", time.Since(began), age, err)
				}
			}
		}
		if n := versionsOf(t, table)["row c"]; n < 60 || n > 64 {
			t.Errorf("%d versions of the last hour, one a minute", n)
		}
		if n := len(db.point.history.samples); n > 64 {
			t.Errorf("%d samples of time", n)
		}
		if ts := timestampAt(t, db, time.Now().Add(-30*time.Minute)); ts < states[len(states)-31].ts || ts > states[len(states)-28].ts {
			t.Errorf("half an hour ago was %d", ts)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An expired pin holds nothing back, and is removed.
func TestPinExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app", "other"))
		defer closeTable(t, table)
		db := open(t, table, Options{})
		pin, err := db.Pin(t.Context(), Pin{Name: "export", Owner: "a test", Expires: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Run(t.Context(), func(tx *Txn) error { tx.Set("r", app("c"), nil); return nil }); err != nil {
			t.Fatal(err)
		}
		if got, err := db.Collect(t.Context(), CollectOptions{}); err != nil || got.SafePoint != pin.TS || len(pinsOf(t, db)) != 1 {
			t.Errorf("%+v, %v, with the pin at %d", got, err, pin.TS)
		}
		time.Sleep(2 * time.Hour)
		if got, err := db.Collect(t.Context(), CollectOptions{}); err != nil || got.SafePoint <= pin.TS || len(pinsOf(t, db)) != 0 {
			t.Errorf("%+v, %v, after the pin at %d expired", got, err, pin.TS)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
