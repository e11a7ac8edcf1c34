package measure

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// TestArrivals: calls are due in order and at the rate, however late the worker is.
func TestArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, perSecond = 1000, 10
		began := time.Now()
		next, last := 0, began
		err := Arrivals(t.Context(), rand.New(rand.NewPCG(1, 1)), perSecond, n, 1, func(_ context.Context, i int, due time.Time) error {
			if i != next || due.Before(last) || due.After(time.Now()) {
				t.Errorf("call %d is due after %v, the one before was after %v", i, due.Sub(began), last.Sub(began))
			}
			next, last = i+1, due
			time.Sleep(time.Second) // ten times too slow
			return nil
		})
		if took := last.Sub(began).Seconds(); err != nil || next != n || took < 0.9*n/perSecond || took > 1.1*n/perSecond {
			t.Errorf("%d calls were due within %.1f s, %v", next, took, err)
		}
	})
}

// TestArrivalsEnd: the first error ends everything.
func TestArrivalsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		err := Arrivals(t.Context(), rand.New(rand.NewPCG(1, 1)), 1, 1000, 3, func(_ context.Context, i int, _ time.Time) error {
			if i == 5 {
				return broken
			}
			return nil
		})
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	})
}
