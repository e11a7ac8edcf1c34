//go:build !linux

package scalebench

import (
	"context"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
)

// pause waits for a time, or until the context ends. It is up to a millisecond late.
func pause(ctx context.Context, d time.Duration) error {
	return sleep.For(ctx, d)
}
