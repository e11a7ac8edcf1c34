//go:build !linux

package scalebench

import (
	"context"
	"time"
)

// pause waits for a time, or until the context ends. It is up to a millisecond late.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
