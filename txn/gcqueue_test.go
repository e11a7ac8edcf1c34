package txn

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/webindexer/indexer/store"
)

// A version that was read before it was replaced is removed without reading the cell, a
// new cell leaves nothing to do, and all other cells are visited.
func TestKnownVersions(t *testing.T) {
	long := make([]byte, inlineLimit+1)
	for _, c := range []struct {
		name  string
		write func(tx *Txn, i int)
		want  func(Mode) Collected // after 4 transactions
	}{
		{"read and set", func(tx *Txn, i int) {
			mustGet(t, tx, "row")
			tx.Set("row", app("c"), []byte{byte(i)})
		}, func(Mode) Collected { return Collected{Versions: 3} }},
		{"row read, and set", func(tx *Txn, i int) {
			if _, err := tx.GetRow(t.Context(), "row", "app"); err != nil {
				t.Fatal(err)
			}
			tx.Set("row", app("c"), []byte{byte(i)})
		}, func(Mode) Collected { return Collected{Versions: 3} }},
		{"prefetched, and set", func(tx *Txn, i int) {
			if err := tx.Prefetch(t.Context(), "row", app("c"), app("d")); err != nil {
				t.Fatal(err)
			}
			tx.Set("row", app("c"), []byte{byte(i)})
		}, func(Mode) Collected { return Collected{Versions: 3} }},
		{"long values", func(tx *Txn, _ int) {
			mustGet(t, tx, "row")
			tx.Set("row", app("c"), long)
		}, func(m Mode) Collected {
			if m == TwoPhase { // each has a data cell
				return Collected{Cells: 1, Versions: 3}
			}
			return Collected{Versions: 3}
		}},
		{"blind", func(tx *Txn, i int) { tx.Set("row", app("c"), []byte{byte(i)}) },
			func(Mode) Collected { return Collected{Cells: 1, Versions: 3} }},
		{"created", func(tx *Txn, i int) { tx.Create(fmt.Sprint("row", i), app("c"), nil) },
			func(Mode) Collected { return Collected{} }},
		{"created and set", func(tx *Txn, i int) {
			tx.Create(fmt.Sprint("row", i), app("c"), nil)
			tx.Set(fmt.Sprint("row", i), app("c"), []byte("x"))
		}, func(Mode) Collected { return Collected{} }},
		{"deleted in turn", func(tx *Txn, i int) {
			mustGet(t, tx, "row")
			if i%2 == 1 {
				tx.Delete("row", app("c"))
			} else {
				tx.Set("row", app("c"), nil)
			}
		}, func(Mode) Collected { return Collected{Cells: 1, Versions: 2, Deletions: 2} }},
		{"more than are remembered", func(tx *Txn, i int) {
			if i > 0 {
				return
			}
			for j := range gcOldVersions + 5 {
				run(t, tx.db, func(tx *Txn) {
					mustGet(t, tx, "row")
					tx.Set("row", app("c"), []byte{byte(j)})
				})
			}
		}, func(Mode) Collected { return Collected{Cells: 1, Versions: gcOldVersions + 4} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
				db := open(t, table, Options{Mode: mode})
				db.gc.queue.on.Store(true)
				for i := range 4 {
					run(t, db, func(tx *Txn) { c.write(tx, i) })
				}
				collector := &Collector{db: db}
				if err := collector.step(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				got, want := collector.Total(), c.want(mode)
				want.SafePoint = got.SafePoint
				if got != want {
					t.Errorf("collected %+v, want %+v", got, want)
				}
				if n := db.gc.queue.size(); n != 0 {
					t.Errorf("%d cells wait", n)
				}
				got, err := db.Collect(t.Context(), CollectOptions{})
				if err != nil || got.Removed() != 0 {
					t.Errorf("a full collection removed %+v, %v", got, err)
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A known version stays as long as a reader can see it.
func TestKnownVersionIsHeld(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		db := open(t, table, Options{Mode: mode})
		db.gc.queue.on.Store(true)
		set := func(v string) {
			run(t, db, func(tx *Txn) {
				mustGet(t, tx, "row")
				tx.Set("row", app("c"), []byte(v))
			})
		}
		set("a")
		set("b")
		reader := mustBegin(t, db) // holds "b", not "a"
		set("c")
		set("d")
		c := &Collector{db: db}
		versions := func(want ...int) {
			t.Helper()
			if err := c.step(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if n := versionsOf(t, table)["row c"]; !slices.Contains(want, n) {
				t.Errorf("%d versions, want %d", n, want)
			}
		}
		versions(3) // b, c, d
		if v := mustGet(t, reader, "row"); v != "b" {
			t.Errorf("the reader finds %q", v)
		}
		reader.Rollback()
		versions(1)
		if got := c.Total(); got.Cells != 0 || got.Versions != 3 {
			t.Errorf("%+v, want three versions without a look", got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestStopLeavesHeldGarbage: a collector that stops while a pin holds back some of the garbage
// leaves the table marked, and the next collector finds that garbage.
func TestStopLeavesHeldGarbage(t *testing.T) {
	table := openMem(t, Groups("app", "other"))
	defer closeTable(t, table)
	db := open(t, table, Options{})
	c, err := db.NewCollector(t.Context(), CollectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := func() { run(t, db, func(tx *Txn) { tx.Set("row", app("c"), []byte("x")) }) }
	set()
	set()
	if _, err := db.Pin(t.Context(), Pin{Name: "export"}); err != nil {
		t.Fatal(err)
	}
	set()
	set()
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Unpin(t.Context(), "export"); err != nil {
		t.Fatal(err)
	}
	if c, err = db.NewCollector(t.Context(), CollectOptions{}); err != nil {
		t.Fatal(err)
	}
	if !c.unswept {
		t.Error("the next collector considers the table swept")
	}
	if err := errors.Join(c.Stop(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
}

func mustGet(t *testing.T, tx *Txn, row string) string {
	t.Helper()
	v, err := tx.Get(t.Context(), row, app("c"))
	if err != nil {
		t.Fatal(err)
	}
	return string(v.Data)
}

// TestLaterRecordsAreVisitedAgain: a cell waits in the queue when it gets another record that is no
// write. The visit for the first one finds the second one above the safe point. It is garbage
// later, and nothing else leads to it.
func TestLaterRecordsAreVisitedAgain(t *testing.T) {
	stop := errors.New("stop")
	for name, leave := range map[string]func(t *testing.T, tx *Txn){
		"read for update": func(t *testing.T, tx *Txn) {
			if _, err := tx.GetForUpdate(t.Context(), "row", app("c")); err != nil {
				t.Fatal(err)
			}
		},
		"trigger": func(_ *testing.T, tx *Txn) {
			tx.AddTrigger(Trigger{Cell: Cell{"row", app("c")}, Observer: "o", TS: tx.Start(), Strong: true})
		},
		"rolled back": func(_ *testing.T, tx *Txn) { tx.Set("row", app("c"), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
				fail := false
				db := open(t, table, Options{Mode: mode, Step: func(step string, _ Cell) error {
					if fail && step == stepPrewritten {
						return stop
					}
					return nil
				}})
				db.gc.queue.on.Store(true)
				commit := func() {
					fail = name == "rolled back"
					tx := mustBegin(t, db)
					defer tx.Rollback()
					leave(t, tx)
					if _, err := tx.Commit(t.Context()); err != nil && !errors.Is(err, stop) {
						t.Fatal(err)
					}
					fail = false
				}
				run(t, db, func(tx *Txn) { tx.Set("row", app("c"), nil) })
				commit()
				for range 2 { // the second time, no write has queued the cell
					reader := mustBegin(t, db)
					commit()
					collector := &Collector{db: db}
					for range 2 {
						if err := collector.step(t.Context(), nil); err != nil {
							t.Fatal(err)
						}
						reader.Rollback()
						mustBegin(t, db).Rollback() // the safe point may now pass the last record
					}
					if n := db.gc.queue.size(); n != 0 {
						t.Errorf("%d cells wait", n)
					}
					got, err := db.Collect(t.Context(), CollectOptions{})
					if err != nil || got.Removed() != 0 {
						t.Errorf("the collector has left %+v, %v", got, err)
					}
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
