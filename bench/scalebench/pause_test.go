package scalebench

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// TestPause: a pause is never too short, and ends with its context, however many there are.
func TestPause(t *testing.T) {
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 5 {
				began := time.Now()
				if err := pause(t.Context(), time.Millisecond); err != nil || time.Since(began) < time.Millisecond {
					t.Errorf("%v, after %v", err, time.Since(began))
				}
			}
		})
	}
	all.Wait()
	over := errors.New("over")
	for range 20 {
		ctx, cancel := context.WithCancelCause(t.Context())
		all.Go(func() {
			if err := pause(ctx, time.Hour); !errors.Is(err, over) {
				t.Error(err)
			}
		})
		cancel(over)
	}
	all.Wait()
	if err := pause(t.Context(), time.Millisecond); err != nil {
		t.Errorf("after pauses that were cut short: %v", err)
	}
}
