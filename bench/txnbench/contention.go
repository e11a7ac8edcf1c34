package txnbench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// ContentionOptions of Contention.
type ContentionOptions struct {
	Goroutines int
	Rows       []int
	Slice      time.Duration
	Log        io.Writer
}

// ContentionRow is what many goroutines got done that increment counters in a few
// rows.
type ContentionRow struct {
	Path    string  `json:"path"` // mutex per row, one-phase, two-phase
	Rows    int     `json:"rows"`
	Rate    float64 `json:"committed_per_second"`
	Ratio   float64 `json:"ratio"` // to the mutex on as many rows
	Retries float64 `json:"retries_per_committed"`
	// LongestWait is that of the transaction that took longest, with its retries;
	// GaveUp counts the transactions that Run gave up on.
	P99         float64 `json:"p99_ms"`
	LongestWait float64 `json:"longest_wait_ms"`
	GaveUp      int64   `json:"gave_up"`
	// Least and Most are what the slowest and the fastest goroutine committed.
	Least int64 `json:"least_by_one_goroutine"`
	Most  int64 `json:"most_by_one_goroutine"`
}

// Contention has goroutines increment counters in rows drawn at random: read, add
// one, write, commit. The baseline holds a mutex of the row over a read and a write
// of raw Badger, which only a single process can. At the end the counters must add
// up to what was committed: no update was lost.
func Contention(ctx context.Context, o ContentionOptions) (rows []ContentionRow, err error) {
	for _, n := range o.Rows {
		base := 0.0
		for _, path := range []string{"mutex per row", "one-phase", "two-phase"} {
			r, err := measure.InTemp(func(dir string) (ContentionRow, error) { return contention(ctx, dir, path, n, o) })
			if err != nil {
				return nil, fmt.Errorf("txn contention: %s, %d rows: %w", path, n, err)
			}
			if path == "mutex per row" {
				base = r.Rate
			}
			r.Ratio = r.Rate / base
			rows = append(rows, r)
			fmt.Fprintln(o.Log, r.String())
		}
	}
	return rows, nil
}

// counters are n counters, and what was done to them.
type counters interface {
	increment(ctx context.Context, i int) error
	sum(ctx context.Context) (int64, error)
	retries() int64
	close() error
}

func openCounters(ctx context.Context, dir, path string, n int) (counters, error) {
	c := newCells(n, 8)
	if path == "mutex per row" {
		r, err := openRaw(dir, c, badgerdb.Options{})
		return &rawCounters{raw: r, locks: make([]sync.Mutex, n)}, err
	}
	mode := txn.OnePhase
	if path == "two-phase" {
		mode = txn.TwoPhase
	}
	o, err := openOurs(ctx, filepath.Join(dir, path), c, mode, badgerdb.Options{})
	return &ourCounters{o}, err
}

func contention(ctx context.Context, dir, path string, n int, o ContentionOptions) (row ContentionRow, err error) {
	c, err := openCounters(ctx, dir, path, n)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var (
		stop    atomic.Bool
		g       errgroup.Group
		tallies = make([]tally, o.Goroutines)
	)
	began := time.Now()
	timer := time.AfterFunc(o.Slice, func() { stop.Store(true) })
	defer timer.Stop()
	for i := range tallies {
		g.Go(func() error {
			defer stop.Store(true) // a failure ends all
			return tallies[i].increment(ctx, c, n, rand.New(rand.NewPCG(uint64(i), 9)), &stop)
		})
	}
	if err := errors.Join(g.Wait(), context.Cause(ctx)); err != nil {
		return row, err
	}
	row, committed := contentionRow(tallies, c.retries(), time.Since(began))
	row.Path, row.Rows = path, n
	got, err := c.sum(ctx)
	if err == nil && got != committed {
		err = fmt.Errorf("the counters add up to %d, and %d increments were committed", got, committed)
	}
	return row, err
}

// tally is what one goroutine did.
type tally struct {
	committed, gaveUp int64
	waits             []time.Duration
}

// increment increments counters drawn at random, one at least, until stop is set.
func (t *tally) increment(ctx context.Context, c counters, n int, rng *rand.Rand, stop *atomic.Bool) error {
	for done := false; !done; done = stop.Load() {
		from := time.Now()
		err := c.increment(ctx, rng.IntN(n))
		t.waits = append(t.waits, time.Since(from))
		switch {
		case err == nil:
			t.committed++
		case errors.Is(err, txn.ErrConflict):
			t.gaveUp++
		default:
			return err
		}
	}
	return nil
}

// contentionRow sums up what all goroutines did in some time.
func contentionRow(tallies []tally, retries int64, took time.Duration) (row ContentionRow, committed int64) {
	var waits []time.Duration
	row.Least = tallies[0].committed
	for _, t := range tallies {
		waits = append(waits, t.waits...)
		committed += t.committed
		row.GaveUp += t.gaveUp
		row.Least, row.Most = min(row.Least, t.committed), max(row.Most, t.committed)
	}
	slices.Sort(waits)
	row.Rate = float64(committed) / took.Seconds()
	row.Retries = float64(retries) / float64(max(committed, 1))
	row.P99 = measure.Milliseconds(measure.Quantile(waits, 0.99))
	row.LongestWait = measure.Milliseconds(measure.Quantile(waits, 1))
	return row, committed
}

// String is the row as a line.
func (r *ContentionRow) String() string {
	return fmt.Sprintf("%5d rows  %-13s  %8.0f/s  ratio %.2f  %6.2f retries each  p99 %7.1f ms  longest wait %7.1f ms  gave up %d  by one goroutine %d to %d",
		r.Rows, r.Path, r.Rate, r.Ratio, r.Retries, r.P99, r.LongestWait, r.GaveUp, r.Least, r.Most)
}

func count(v []byte) uint64 {
	if len(v) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(v)
}

func counted(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

type rawCounters struct {
	*raw
	locks []sync.Mutex
}

func (r *rawCounters) get(i int) (n uint64, err error) {
	err = r.db.View(func(tx *badger.Txn) error {
		item, err := tx.Get(r.cells.keys[i])
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return item.Value(func(v []byte) error {
			n = count(v)
			return nil
		})
	})
	return n, err
}

func (r *rawCounters) increment(ctx context.Context, i int) error {
	r.locks[i].Lock()
	defer r.locks[i].Unlock()
	n, err := r.get(i)
	if err != nil {
		return err
	}
	return r.write(ctx, i, counted(n+1))
}

func (r *rawCounters) sum(context.Context) (total int64, err error) {
	for i := range r.cells.keys {
		n, err := r.get(i)
		if err != nil {
			return 0, err
		}
		total += int64(n)
	}
	return total, nil
}

func (r *rawCounters) retries() int64 { return 0 }

type ourCounters struct{ *ours }

func (o *ourCounters) increment(ctx context.Context, i int) error {
	_, err := o.db.Run(ctx, func(tx *txn.Txn) error {
		v, err := tx.Get(ctx, o.cells.rows[i], column)
		if err != nil {
			return err
		}
		tx.Set(o.cells.rows[i], column, counted(count(v.Data)+1))
		return nil
	})
	return err
}

func (o *ourCounters) sum(ctx context.Context) (total int64, err error) {
	tx, err := o.db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	for _, row := range o.cells.rows {
		v, err := tx.Get(ctx, row, column)
		if err != nil {
			return 0, err
		}
		total += int64(count(v.Data))
	}
	return total, nil
}

func (o *ourCounters) retries() int64 {
	c := o.db.Counters()
	return c.Begun.Load() - c.Committed.Load()
}
