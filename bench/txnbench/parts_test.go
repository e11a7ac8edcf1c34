package txnbench

import (
	"io"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// What a benchmark starts ends with it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOracle(t *testing.T) {
	rows, err := Oracle(t.Context(), OracleOptions{Goroutines: []int{1, 8}, Slice: time.Millisecond, Rounds: 2, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Mutex <= 0 || r.Ours <= 0 || r.Ratio <= 0 {
			t.Errorf("row %+v", r)
		}
	}
	if len(rows) != 2 {
		t.Errorf("%d rows", len(rows))
	}
}

func TestLatency(t *testing.T) {
	res, err := Latency(t.Context(), LatencyOptions{Samples: 20, Flood: 1000, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if res.Before.P50 <= 0 || res.After.P50 <= 0 || res.After.P99 < res.After.P50 || res.Rate <= 0 {
		t.Errorf("result %+v", res)
	}
}

// TestContention: the benchmark itself fails if an update is lost.
func TestContention(t *testing.T) {
	o := ContentionOptions{Goroutines: 8, Rows: []int{1, 10}, Slice: 20 * time.Millisecond, Log: io.Discard}
	rows, err := Contention(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3*len(o.Rows) {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Rate <= 0 || r.LongestWait <= 0 || r.Most == 0 {
			t.Errorf("row %+v", r)
		}
	}
}

// TestContentionRow: the figures are those of all goroutines together, and of the extremes.
func TestContentionRow(t *testing.T) {
	ms := time.Millisecond
	tallies := []tally{
		{committed: 3, gaveUp: 1, waits: []time.Duration{ms, 9 * ms, 2 * ms, 3 * ms}},
		{committed: 5, waits: []time.Duration{ms, ms, ms, ms, 4 * ms}},
		{gaveUp: 2, waits: []time.Duration{20 * ms, 30 * ms}},
	}
	row, committed := contentionRow(tallies, 4, 2*time.Second)
	want := ContentionRow{Rate: 4, Retries: 0.5, P99: 30, LongestWait: 30, GaveUp: 3, Least: 0, Most: 5}
	if row != want || committed != 8 {
		t.Errorf("%d committed, %+v; want 8, %+v", committed, row, want)
	}
	if row, _ := contentionRow(make([]tally, 2), 7, time.Second); row != (ContentionRow{Retries: 7}) {
		t.Errorf("nothing was committed: %+v", row)
	}
}

func TestCost(t *testing.T) {
	rows, err := Cost(t.Context(), CostOptions{Cells: 100, Goroutines: []int{1, 4}, Slice: time.Millisecond, Rounds: 2, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2*11 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Micros <= 0 {
			t.Errorf("row %+v", r)
		}
	}
}
