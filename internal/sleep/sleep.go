// Package sleep waits, and gives up when a context ends.
package sleep

import (
	"context"
	"time"
)

// For returns nil when d has passed, or the cause of ctx's end if ctx ends before.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
