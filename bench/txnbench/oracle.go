package txnbench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// OracleOptions of Oracle.
type OracleOptions struct {
	Goroutines []int
	Slice      time.Duration
	Rounds     int
	Log        io.Writer
}

// oracleBar is how many timestamps a second we want in process; the paper's oracle
// gives out two million from one machine, with a remote call for each batch.
const oracleBar = 20e6

// OracleRow compares the oracle with a counter behind a mutex.
type OracleRow struct {
	Goroutines int     `json:"goroutines"`
	Mutex      float64 `json:"mutex_per_second"`
	Ours       float64 `json:"our_per_second"`
	Ratio      float64 `json:"ratio"`
	Bar        float64 `json:"bar_per_second"`
}

// oracleBatch is how many timestamps one operation takes: the loop around it
// would else be a part of what is measured.
const oracleBatch = 1000

// Oracle measures timestamps per second, including persisting the ranges, and compares
// them with the simplest oracle: a counter behind a mutex.
func Oracle(ctx context.Context, o OracleOptions) ([]OracleRow, error) {
	rows, err := measure.InTemp(func(dir string) (rows []OracleRow, err error) {
		err = withDB(ctx, dir, txn.Options{}, badgerdb.Options{}, func(db *txn.DB) error {
			for _, g := range o.Goroutines {
				r, err := oracle(ctx, db, g, o)
				if err != nil {
					return err
				}
				rows = append(rows, r)
				fmt.Fprintln(o.Log, r.String())
			}
			return nil
		})
		return rows, err
	})
	if err != nil {
		return nil, fmt.Errorf("txn oracle: %w", err)
	}
	return rows, nil
}

func oracle(ctx context.Context, db *txn.DB, goroutines int, o OracleOptions) (OracleRow, error) {
	var (
		mu      sync.Mutex
		counter uint64
		a, b    []float64
		ratios  []float64
	)
	baseline := func(context.Context, *rand.Rand) error {
		last := uint64(0)
		for range oracleBatch {
			mu.Lock()
			counter++
			ts := counter
			mu.Unlock()
			if ts <= last {
				return fmt.Errorf("%d after %d", ts, last)
			}
			last = ts
		}
		return nil
	}
	ours := func(ctx context.Context, _ *rand.Rand) error {
		last := uint64(0)
		for range oracleBatch {
			ts, err := db.Timestamp(ctx)
			if err != nil {
				return err
			}
			if ts <= last {
				return fmt.Errorf("timestamp %d after %d", ts, last)
			}
			last = ts
		}
		return nil
	}
	for range max(o.Rounds, 1) {
		x, err := rate(ctx, goroutines, o.Slice, baseline)
		if err != nil {
			return OracleRow{}, err
		}
		y, err := rate(ctx, goroutines, o.Slice, ours)
		if err != nil {
			return OracleRow{}, err
		}
		a, b, ratios = append(a, x*oracleBatch), append(b, y*oracleBatch), append(ratios, y/x)
	}
	return OracleRow{Goroutines: goroutines, Mutex: measure.Median(a), Ours: measure.Median(b), Ratio: measure.Median(ratios), Bar: oracleBar}, nil
}

// String is the row as a line.
func (r *OracleRow) String() string {
	return fmt.Sprintf("oracle  %2d goroutines  mutex %6.1f M/s  ours %6.1f M/s  ratio %.2f (bar %.0f M/s)",
		r.Goroutines, r.Mutex/1e6, r.Ours/1e6, r.Ratio, r.Bar/1e6)
}
