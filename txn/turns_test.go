package txn

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"indexer/store"
)

// TestTurnsInOrder: the turn goes to those who wait in the order they came; who
// gave up in between is passed over; who comes when nobody has it gets it.
func TestTurnsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		c := Cell{"r", app("c")}
		if !turns.take(t.Context(), c) || !turns.take(t.Context(), Cell{"other", app("c")}) {
			t.Fatal("a free turn was not given")
		}
		var got []int
		quit, leave := context.WithCancel(t.Context())
		for i := range 4 {
			ctx := t.Context()
			if i == 2 {
				ctx = quit
			}
			go func() {
				if turns.take(ctx, c) {
					got = append(got, i)
					turns.pass(c)
				}
			}()
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		turns.pass(c)
		synctest.Wait()
		if !slices.Equal(got, []int{0, 1, 3}) {
			t.Errorf("turns went to %v", got)
		}
		turns.pass(Cell{"other", app("c")})
		if len(turns.waiting) != 0 {
			t.Errorf("left behind: %v", turns.waiting)
		}
	})
}

// TestTurnsArePatientForAWhile: who holds a turn for ever holds nobody up for long.
func TestTurnsArePatientForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		c := Cell{"r", app("c")}
		turns.take(t.Context(), c)
		if turns.take(t.Context(), c) {
			t.Error("a turn was given twice")
		}
		if n := len(turns.waiting[c]); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}

// TestTurnAt: a transaction holds one turn at a time.
func TestTurnAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		one := turn{of: &turns}
		a, b := Cell{"a", app("c")}, Cell{"b", app("c")}
		if !one.at(t.Context(), a) || one.at(t.Context(), a) || !one.at(t.Context(), b) {
			t.Error("turns are not taken one at a time")
		}
		if _, held := turns.waiting[a]; held {
			t.Error("the turn of a was kept")
		}
		one.end()
		one.end()
		if len(turns.waiting) != 0 {
			t.Errorf("left behind: %v", turns.waiting)
		}
	})
}

// TestRunStandsInLine: while somebody has the turn of a cell, another transaction
// that writes it waits for its own, and is not counted as a conflict of the store.
func TestRunStandsInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app"))
		db := open(t, table, Options{})
		c := Cell{"r", app("c")}
		db.turns.take(t.Context(), c)
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
			t.Error("it went past the one whose turn it is")
		}
		db.turns.pass(c)
		synctest.Wait()
		if !ended || db.turns.held.Load() != 0 || db.counters.Conflicts.Load() != 0 {
			t.Errorf("ended: %v, turns held: %d, conflicts: %d", ended, db.turns.held.Load(), db.counters.Conflicts.Load())
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		closeTable(t, table)
	})
}

// TestRunTakesTurns: a function that runs another transaction on the cell it has
// the turn of gets on, though slowly.
func TestRunTakesTurns(t *testing.T) {
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
		if n := len(db.turns.waiting); n != 0 {
			t.Errorf("%d turns left", n)
		}
	})
}
