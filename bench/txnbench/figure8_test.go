package txnbench

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// TestFigure8 runs all settings at a tiny size: each read is checked.
func TestFigure8(t *testing.T) {
	var log bytes.Buffer
	res, err := Figure8(t.Context(), Figure8Options{
		CacheBytes: 1 << 20, Values: []int{100, 10_000}, Goroutines: []int{1, 4}, Slice: time.Millisecond, Rounds: 2, Log: &log,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := 2 * 2 * 2 * 2 * 2; len(res.Rows) != want || strings.Count(log.String(), "\n") != want {
		t.Errorf("%d rows, %d lines, want %d", len(res.Rows), strings.Count(log.String(), "\n"), want)
	}
	for _, r := range res.Rows {
		if r.Raw <= 0 || r.Ours <= 0 || r.Ratio <= 0 || r.Bar <= 0 {
			t.Errorf("row %+v", r)
		}
	}
	if len(res.Summary) != 4 {
		t.Errorf("summary %+v", res.Summary)
	}
}

// TestFigure8Long is the whole table; go test -run Figure8Long -v with
// TXNBENCH_LONG=1.
func TestFigure8Long(t *testing.T) {
	if os.Getenv("TXNBENCH_LONG") == "" {
		t.Skip("TXNBENCH_LONG is not set")
	}
	_, err := Figure8(t.Context(), Figure8Options{
		CacheBytes: 16 << 20, Values: []int{100, 10_000}, Goroutines: []int{1, 2, 8, 64}, Slice: 250 * time.Millisecond, Rounds: 3, Log: os.Stdout,
	})
	if err != nil {
		t.Fatal(err)
	}
}
