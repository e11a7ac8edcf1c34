package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhileConnected: a command that waits says why and gives up, but only if the process
// stays cut off; a command that is done is not disturbed.
func TestWhileConnected(t *testing.T) {
	lapsed := errors.New("no sign of life")
	for _, tt := range []struct {
		name        string
		from, to    time.Duration // without a sign of life
		takes       time.Duration
		says, fails string
		ends        time.Duration
	}{
		{"connected", 0, 0, time.Hour, "", "", time.Hour},
		{"for a moment", time.Minute, time.Minute + time.Second, time.Hour, "", "", time.Hour},
		{"for some seconds", time.Minute, time.Minute + 10*time.Second, time.Hour, "cannot reach the store (no sign of life)", "", time.Hour},
		{"for good", time.Minute, 24 * time.Hour, time.Hour, "giving up in 18s", "cannot reach the store: no sign of life", time.Minute + cutOffTimeout},
		{"done before", time.Minute, 24 * time.Hour, time.Minute + 5*time.Second, "waiting", "", time.Minute + 5*time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				valid := func() error {
					if at := time.Since(began); tt.from <= at && at < tt.to {
						return lapsed
					}
					return nil
				}
				var said strings.Builder
				var ended atomic.Bool
				err := whileConnected(t.Context(), valid, &said, func(ctx context.Context) error {
					defer ended.Store(true)
					select {
					case <-time.After(tt.takes):
						return nil
					case <-ctx.Done():
						return fmt.Errorf("read: %w", ctx.Err())
					}
				})
				took := time.Since(began)
				switch {
				case (err == nil) != (tt.fails == ""), err != nil && !strings.Contains(err.Error(), tt.fails):
					t.Errorf("error %v, want %q", err, tt.fails)
				case !ended.Load(), took < tt.ends, took > tt.ends+2*cutOffEvery:
					t.Errorf("it took %v, want %v", took, tt.ends)
				case tt.says == "" && said.Len() > 0, !strings.Contains(said.String(), tt.says), strings.Count(said.String(), "\n") > 1:
					t.Errorf("it said %q, want %q once", said.String(), tt.says)
				}
			})
		})
	}
}
