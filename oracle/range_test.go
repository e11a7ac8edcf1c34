package oracle

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestRangesRunOut: whatever is handed out is below the ceiling in the table, and above everything
// before. While the ceiling cannot be raised, the oracle hands out the rest, and then fails.
func TestRangesRunOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := newTable(t)
		l := &link{Table: table}
		o := start(t, l, "a")
		last, _ := takeOne(t, o)
		take := func(n uint64) error {
			first, err := o.Take(t.Context(), n)
			if err != nil {
				return err
			}
			ceiling, err := readCeiling(t.Context(), table)
			if err != nil {
				t.Fatal(err)
			}
			if first <= last || first+n > ceiling {
				t.Fatalf("%d timestamps from %d on, after %d, with a ceiling of %d", n, first, last, ceiling)
			}
			last = first + n - 1
			return nil
		}
		for range 10 {
			if err := take(rangeSize / 2); err != nil {
				t.Fatal(err)
			}
		}
		if ts, err := o.Last(t.Context()); err != nil || ts != last {
			t.Errorf("the last timestamp is %d, %v; want %d", ts, err, last)
		}
		if err := take(rangeSize/2 + 1); err == nil {
			t.Error("more than half a range was handed out at once")
		}
		l.setCut(true)
		rest := 0
		for ; take(rangeSize/2) == nil; rest++ {
			if rest > 4 {
				t.Fatal("it hands out more than was allocated")
			}
		}
		if err := take(rangeSize / 2); !errors.Is(err, errCut) {
			t.Errorf("it failed with %v", err)
		}
		l.setCut(false)
		time.Sleep(time.Second)
		if err := take(rangeSize / 2); err != nil {
			t.Errorf("after the table is back: %v", err)
		}
		stop(t, o)
	})
}

// TestEndedTerm: a request that found the oracle serving, and comes to its turn when the term has
// ended, gets no timestamp: the next oracle may have handed out later ones.
func TestEndedTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := start(t, &link{Table: newTable(t)}, "a")
		takeOne(t, o)
		_, term := o.state()
		o.stopServing(term, ErrNotServing)
		if ts, err := term.take(t.Context(), 1); !errors.Is(err, ErrNotServing) {
			t.Errorf("%d, %v", ts, err)
		}
		stop(t, o)
	})
}
