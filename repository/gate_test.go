package repository

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"
)

// TestGate: a load that waits while Quiet waits for the observers, and a Quiet that waits for loads,
// give up when their context ends.
func TestGate(t *testing.T) {
	enough := errors.New("enough")
	waits := map[string]struct {
		held int64
		call func(*Repository, context.Context) error
	}{
		"Load":    {allTurns, func(r *Repository, ctx context.Context) error { _, err := r.Load(ctx, nil); return err }},
		"LoadAnd": {allTurns, func(r *Repository, ctx context.Context) error { _, err := r.LoadAnd(ctx, nil, nil); return err }},
		"Quiet":   {1, func(r *Repository, ctx context.Context) error { _, err := r.Quiet(ctx); return err }},
	}
	for name, w := range waits {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &Repository{gate: semaphore.NewWeighted(allTurns)}
				if err := r.take(t.Context(), w.held); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, enough)
				defer cancel()
				if err := w.call(r, ctx); !errors.Is(err, enough) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
