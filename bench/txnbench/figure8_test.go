package txnbench

import (
	"bytes"
	"slices"
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

// TestSummary: an operation on a path is summed up over all settings, medians and the least ratio.
func TestSummary(t *testing.T) {
	res := &Figure8Result{Rows: []Figure8Row{
		{Op: "read", Path: "one-phase", Ratio: 0.9, CPURatio: 0.5},
		{Op: "read", Path: "one-phase", Ratio: 0.4, CPURatio: 0.7},
		{Op: "read", Path: "one-phase", Ratio: 0.8, CPURatio: 0.6},
		{Op: "read", Path: "two-phase", Ratio: 1},
		{Op: "write", Path: "one-phase", Ratio: 0.3},
		{Op: "write", Path: "one-phase", Ratio: 0.1},
	}}
	res.summarise()
	want := []Figure8Summary{
		{"read", "one-phase", 0.8, 0.4, 0.6, 0.95, 0.94},
		{"read", "two-phase", 1, 1, 0, 0.95, 0.94},
		{"write", "one-phase", 0.2, 0.1, 0, 0.60, 0.23},
		{"write", "two-phase", 0, 0, 0, 0.33, 0.23},
	}
	if !slices.Equal(res.Summary, want) {
		t.Errorf("%+v, want %+v", res.Summary, want)
	}
}

// TestRatios: what is not known is in no ratio.
func TestRatios(t *testing.T) {
	if got := ratios([]float64{6, 1, 9}, []float64{2, 0, 3}); !slices.Equal(got, []float64{3, 3}) {
		t.Errorf("%v", got)
	}
}
