package txnbench

import (
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// What a benchmark starts ends with it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// log shows the lines of a benchmark with TXNBENCH_LONG.
func logTo() io.Writer {
	if os.Getenv("TXNBENCH_LONG") != "" {
		return os.Stdout
	}
	return io.Discard
}

func TestOracle(t *testing.T) {
	rows, err := Oracle(t.Context(), OracleOptions{Goroutines: []int{1, 8}, Slice: time.Millisecond, Rounds: 2, Log: logTo()})
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
	o := LatencyOptions{Samples: 20, Flood: 1000, Log: logTo()}
	if os.Getenv("TXNBENCH_LONG") != "" {
		o = LatencyOptions{Samples: 2000, Flood: 200_000, Log: logTo()}
	}
	res, err := Latency(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Before.P50 <= 0 || res.After.P50 <= 0 || res.After.P99 < res.After.P50 || res.Rate <= 0 {
		t.Errorf("result %+v", res)
	}
}

// TestContention: the benchmark itself fails if an update is lost.
func TestContention(t *testing.T) {
	o := ContentionOptions{Goroutines: 8, Rows: []int{1, 10}, Slice: 20 * time.Millisecond, Log: logTo()}
	if os.Getenv("TXNBENCH_LONG") != "" {
		o = ContentionOptions{Goroutines: 64, Rows: []int{1, 10, 1000}, Slice: 3 * time.Second, Log: logTo()}
	}
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

func TestCost(t *testing.T) {
	o := CostOptions{Cells: 100, Goroutines: []int{1, 4}, Slice: time.Millisecond, Rounds: 2, Log: logTo()}
	if os.Getenv("TXNBENCH_LONG") != "" {
		o = CostOptions{Cells: 50_000, Goroutines: []int{1, 64}, Slice: 200 * time.Millisecond, Rounds: 3, Log: logTo()}
	}
	rows, err := Cost(t.Context(), o)
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
