package progress

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestReport: work tells something in the middle of each second, and nothing new after 12.
func TestReport(t *testing.T) {
	for _, tt := range []struct {
		name        string
		interrupted time.Duration
		want        string
	}{
		{"to the end", time.Hour, "4 of 12\n9 of 12\n12 of 12\n"},
		{"interrupted", 7 * time.Second, "4 of 12\n6 of 12\n"},
		{"interrupted at once", 500 * time.Millisecond, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), tt.interrupted)
				defer cancel()
				var out bytes.Buffer
				result, err := Report(ctx, &out, func(tell Tell) (int, error) {
					for n := 1; n <= 30; n++ {
						select {
						case <-time.After(time.Until(began.Add(time.Duration(n)*time.Second + 500*time.Millisecond))):
						case <-ctx.Done():
							return n, ctx.Err()
						}
						if n <= 12 {
							tell("%d of 12", n)
						}
					}
					return 30, nil
				})
				if (err != nil) != (ctx.Err() != nil) || err == nil && result != 30 {
					t.Errorf("result %d, error %v", result, err)
				}
				if out.String() != tt.want {
					t.Errorf("it wrote %q, want %q", out.String(), tt.want)
				}
			})
		})
	}
}
