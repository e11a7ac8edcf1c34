package badgerdb

import (
	"context"
	"time"
)

// every calls fn each time that d has passed, until the context ends.
func every(ctx context.Context, d time.Duration, fn func()) {
	ticker := time.NewTicker(d)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			fn()
		}
	}
}
