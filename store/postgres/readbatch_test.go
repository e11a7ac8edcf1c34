package postgres

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestReadsLeave: reads whose callers have left while all batches are under way are not sent later.
func TestReadsLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := readQueue{most: 1, running: 1}
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			go func() {
				if _, err := q.do(ctx, readRequest{}); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if len(q.waiting) != 3 {
			t.Errorf("%d reads wait, want 3", len(q.waiting))
		}
		cancel()
		synctest.Wait()
		if len(q.waiting) != 0 {
			t.Errorf("%d reads wait for callers that have left", len(q.waiting))
		}
	})
}
