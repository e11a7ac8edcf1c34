package txn

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
)

var smallSizes = oracleSizes{allocated: 20, window: 3}

// ceilings stands in for the table: it keeps what an oracle persists.
type ceilings struct {
	mu    sync.Mutex
	last  uint64
	calls int
	delay time.Duration
	err   error
}

func (c *ceilings) persist(ctx context.Context, ceiling uint64) error {
	time.Sleep(c.delay) // fake time only
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	if c.err == nil {
		c.last = ceiling
	}
	return c.err
}

func (c *ceilings) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func openSmall(t *testing.T, c *ceilings) *oracle {
	t.Helper()
	o, err := newOracle(context.Background(), c.last, smallSizes, c.persist)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.close)
	return o
}

func next(t *testing.T, o *oracle) uint64 {
	t.Helper()
	ts, err := o.Next(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

func reserve(t *testing.T, o *oracle, n int) uint64 {
	t.Helper()
	for {
		first, err := o.Reserve(n)
		if err == nil {
			return first
		}
		if !errors.Is(err, errOracleRange) {
			t.Fatal(err)
		}
		synctest.Wait() // for the next range
	}
}

func TestOracleIncreasesAcrossGoroutinesAndRanges(t *testing.T) {
	c := &ceilings{last: 16}
	o := openSmall(t, c)
	const goroutines, each = 8, 500
	var (
		all  []uint64
		mu   sync.Mutex
		work sync.WaitGroup
	)
	for range goroutines {
		work.Go(func() {
			var mine []uint64
			for range each {
				ts, err := o.Next(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				mine = append(mine, ts)
			}
			if !slices.IsSorted(mine) {
				t.Error("a goroutine's timestamps went backwards")
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	work.Wait()
	o.close() // and wait for the last extension
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != goroutines*each {
		t.Errorf("%d different timestamps, want %d", n, goroutines*each)
	}
	if last := all[len(all)-1]; last >= c.last || o.Last() != last {
		t.Errorf("handed out %d with the ceiling at %d; Last says %d", last, c.last, o.Last())
	}
}

func TestOracleStartsAboveWhatAnEarlierProcessGave(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		var last uint64
		for process := range 4 {
			db := open(t, table, Options{Mode: mode, sizes: smallSizes})
			for range 7 * process {
				commit, err := db.Run(context.Background(), func(tx *Txn) error {
					if tx.Start() <= last {
						t.Errorf("start %d after %d", tx.Start(), last)
					}
					last = tx.Start()
					tx.Set("row", app("c"), nil)
					return nil
				})
				if err != nil || commit <= last {
					t.Fatalf("commit %d after start %d: %v", commit, last, err)
				}
				last = commit
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// The proof in oracle.go, case by case.
func TestOracleWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := openSmall(t, &ceilings{last: 16})
		a := next(t, o)
		first := reserve(t, o, 2)
		if first != a+1+smallSizes.window {
			t.Errorf("reserved %d after %d", first, a)
		}
		for range smallSizes.window {
			if ts := next(t, o); ts >= first {
				t.Errorf("start %d beyond the commits at %d that cannot be read yet", ts, first)
			}
		}
		// The window is used up: the next one waits for the flush, and sees it.
		got := make(chan uint64, 1)
		go func() { got <- next(t, o) }()
		synctest.Wait()
		select {
		case ts := <-got:
			t.Errorf("%d was handed out during the flush", ts)
		default:
		}
		o.Visible()
		if ts := <-got; ts != first+2 {
			t.Errorf("%d after the flush of %d and %d", ts, first, first+1)
		}
		// An unused window is jumped over.
		second := reserve(t, o, 1)
		o.Visible()
		if ts := next(t, o); ts != second+1 {
			t.Errorf("%d after the flush of %d", ts, second)
		}
	})
}

// A caller that takes Last before and after must be able to tell that something began
// or became visible in between (notify's Quiesce depends on it).
func TestOracleLastTellsOfEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := openSmall(t, &ceilings{last: 16})
		events := []func(){
			func() { next(t, o) },
			func() { reserve(t, o, 1); next(t, o) },
			func() { next(t, o) },
			func() { o.Visible() },
			func() { next(t, o) },
		}
		for i, event := range events {
			before := o.Last()
			if event(); o.Last() <= before {
				t.Errorf("event %d: Last stayed at %d", i, before)
			}
		}
	})
}

func TestOracleNextEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := openSmall(t, &ceilings{last: 16})
		reserve(t, o, 1)
		for range smallSizes.window {
			next(t, o)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if ts, err := o.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %d, %v", ts, err)
		}
	})
}

func TestOracleReserveAtTheEndOfTheRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &ceilings{last: 16}
		o := openSmall(t, c)
		c.delay = time.Second
		failures := 0
		for range 50 {
			first, err := o.Reserve(2)
			if err != nil {
				if failures++; !errors.Is(err, errOracleRange) {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second) // the caller's backoff
				continue
			}
			if c.mu.Lock(); first+2 > c.last {
				t.Errorf("reserved %d and %d with the ceiling at %d", first, first+1, c.last)
			}
			c.mu.Unlock()
			o.Visible()
		}
		if failures == 0 || failures > 25 {
			t.Errorf("%d of 50 calls met the end of the range", failures)
		}
	})
}

func TestOracleTellsWhyThereAreNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &ceilings{last: 16}
		o := openSmall(t, c)
		c.fail(store.ErrNoSpace)
		var err error
		for range 100 {
			if _, err = o.Next(context.Background()); err != nil {
				break
			}
		}
		if !errors.Is(err, store.ErrNoSpace) {
			t.Errorf("out of timestamps: %v", err)
		}
		calls := c.calls
		if _, err := o.Reserve(1); !errors.Is(err, store.ErrNoSpace) || !errors.Is(err, errOracleRange) {
			t.Errorf("Reserve: %v", err)
		}
		// Each call tries again, and the oracle continues when one succeeds.
		synctest.Wait()
		if c.calls > calls+2 {
			t.Errorf("%d attempts for one call", c.calls-calls)
		}
		c.fail(nil)
		last := o.Last()
		if ts := next(t, o); ts <= last {
			t.Errorf("%d after %d", ts, last)
		}
	})
}

func TestOracleClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := openSmall(t, &ceilings{last: 16})
		reserve(t, o, 1)
		for range smallSizes.window {
			next(t, o)
		}
		waiting := make(chan error)
		go func() {
			_, err := o.Next(context.Background())
			waiting <- err
		}()
		synctest.Wait()
		o.close()
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// Run retries a transaction that reaches the end of the range.
func TestCommitAtTheEndOfTheRange(t *testing.T) {
	for _, e := range engines {
		if e.remote {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			table := e.open(t, Groups("app"))
			defer closeTable(t, table)
			db := open(t, table, Options{Mode: OnePhase, sizes: oracleSizes{allocated: 64, window: 8}})
			var work sync.WaitGroup
			for range 4 {
				work.Go(func() {
					for range 50 {
						_, err := db.Run(context.Background(), func(tx *Txn) error {
							tx.Set("row", app("c"), nil)
							return nil
						})
						if err != nil && !errors.Is(err, ErrConflict) {
							t.Error(err)
						}
					}
				})
			}
			work.Wait()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
