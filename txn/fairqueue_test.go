package txn

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/store"
)

// TestFairQueueOrder: waiters reach the head in the order in which they arrived; one that
// gave up meanwhile is skipped, and an empty queue admits at once.
func TestFairQueueOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q fairQueue
		c := Cell{"r", app("c")}
		if !q.take(t.Context(), c) || !q.take(t.Context(), Cell{"other", app("c")}) {
			t.Fatal("an empty queue did not admit")
		}
		var got []int
		quit, leave := context.WithCancel(t.Context())
		for i := range 4 {
			ctx := t.Context()
			if i == 2 {
				ctx = quit
			}
			go func() {
				if q.take(ctx, c) {
					got = append(got, i)
					q.pass(c)
				}
			}()
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		q.pass(c)
		synctest.Wait()
		if !slices.Equal(got, []int{0, 1, 3}) {
			t.Errorf("admitted %v", got)
		}
		q.pass(Cell{"other", app("c")})
		if len(q.waiting) != 0 {
			t.Errorf("still waiting: %v", q.waiting)
		}
	})
}

// TestFairQueuePatience: a transaction that never leaves the head blocks the queue only for a while.
func TestFairQueuePatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q fairQueue
		c := Cell{"r", app("c")}
		q.take(t.Context(), c)
		if q.take(t.Context(), c) {
			t.Error("the head was taken twice")
		}
		if n := len(q.waiting[c]); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}

// TestQueuePlace: a transaction holds one place at a time.
func TestQueuePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q fairQueue
		one := queuePlace{queue: &q}
		a, b := Cell{"a", app("c")}, Cell{"b", app("c")}
		if !one.moveTo(t.Context(), a) || one.moveTo(t.Context(), a) || !one.moveTo(t.Context(), b) {
			t.Error("it holds more than one place")
		}
		if _, held := q.waiting[a]; held {
			t.Error("it kept its place at a")
		}
		one.leave()
		one.leave()
		if len(q.waiting) != 0 {
			t.Errorf("still waiting: %v", q.waiting)
		}
	})
}

// TestRunQueues: while the head of a cell is taken, another transaction
// that writes the cell waits, and that is not counted as a conflict of the store.
func TestRunQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app"))
		db := open(t, table, Options{})
		c := Cell{"r", app("c")}
		db.fair.take(t.Context(), c)
		ended := false
		go func() {
			_, err := db.Run(t.Context(), func(tx *Txn) error {
				tx.Set("r", app("c"), []byte("v"))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			ended = true
		}()
		synctest.Wait()
		if ended {
			t.Error("it jumped the queue")
		}
		db.fair.pass(c)
		synctest.Wait()
		if !ended || db.fair.held.Load() != 0 || db.counters.Conflicts.Load() != 0 {
			t.Errorf("ended: %v, heads taken: %d, conflicts: %d", ended, db.fair.held.Load(), db.counters.Conflicts.Load())
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		closeTable(t, table)
	})
}

// TestRunNested: a function that runs another transaction on the cell whose queue it
// heads still makes progress, though slowly.
func TestRunNested(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		db := open(t, table, Options{Mode: mode})
		defer db.Close()
		attempts := 0
		_, err := db.Run(t.Context(), func(tx *Txn) error {
			attempts++
			tx.Set("r", app("c"), []byte("outer"))
			if attempts > 2 {
				return nil
			}
			_, err := db.Run(t.Context(), func(tx *Txn) error {
				tx.Set("r", app("c"), []byte("inner"))
				return nil
			})
			return err
		})
		if err != nil || attempts != 3 {
			t.Errorf("%d attempts, %v", attempts, err)
		}
		if n := len(db.fair.waiting); n != 0 {
			t.Errorf("%d queues left", n)
		}
	})
}
