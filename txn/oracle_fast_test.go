package txn

import (
	"context"
	"errors"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/store"
)

// TestOracleUnderFlushes takes timestamps from many goroutines while groups come
// and go and ranges end, as fast as they can: the claims of oracle.go's fast path.
func TestOracleUnderFlushes(t *testing.T) {
	rounds := 200_000
	if testing.Short() {
		rounds = 50_000
	}
	for _, sizes := range []oracleSizes{{allocated: 1 << 40, window: 0}, {allocated: 1 << 10, window: 2}, {allocated: 1 << 20, window: 1 << 10}} {
		c := &ceilings{last: 16}
		o, err := newOracle(context.Background(), c.last, sizes, c.persist)
		if err != nil {
			t.Fatal(err)
		}
		var (
			hidden atomic.Uint64 // F while a group is on its way
			done   atomic.Bool
			work   sync.WaitGroup
			starts [4][]uint64
		)
		for g := range starts {
			work.Go(func() {
				for !done.Load() {
					before := hidden.Load()
					ts, err := o.Next(context.Background())
					if err != nil {
						t.Error(err)
						return
					}
					if after := hidden.Load(); before == after && before != 0 && ts >= before {
						t.Errorf("start %d was handed out while the commits from %d on could not be read", ts, before)
						return
					}
					if len(starts[g]) < 1<<20 {
						starts[g] = append(starts[g], ts)
					}
				}
			})
		}
		commits := flush(t, o, &hidden, rounds)
		done.Store(true)
		work.Wait()
		o.close()
		all := slices.Concat(append(starts[:], commits)...)
		slices.Sort(all)
		if n := len(slices.Compact(slices.Clone(all))); n != len(all) {
			t.Errorf("window %d: %d of %d timestamps were handed out twice", sizes.window, len(all)-n, len(all))
		}
		if last := all[len(all)-1]; last >= c.last {
			t.Errorf("handed out %d with the ceiling at %d", last, c.last)
		}
		for g := range starts {
			if !slices.IsSorted(starts[g]) {
				t.Errorf("the timestamps of goroutine %d went backwards", g)
			}
		}
	}
}

// TestOracleSpanReplaced: a number taken under a span that was replaced is discarded,
// whatever came in between: the beginning of a flush, a whole flush, or the end of one.
func TestOracleSpanReplaced(t *testing.T) {
	for _, between := range []struct {
		name         string
		before, then func(o *oracle)
	}{
		{"a flush begins", func(*oracle) {}, func(o *oracle) { _, _ = o.Reserve(2) }},
		{"a flush begins and ends", func(*oracle) {}, func(o *oracle) { _, _ = o.Reserve(2); o.Visible() }},
		{"a flush ends", func(o *oracle) { _, _ = o.Reserve(2) }, func(o *oracle) { o.Visible() }},
		{"it is closed", func(*oracle) {}, func(o *oracle) { o.close() }},
	} {
		c := &ceilings{last: 16}
		o, err := newOracle(context.Background(), c.last, oracleSizes{allocated: 1 << 20, window: 0}, c.persist)
		if err != nil {
			t.Fatal(err)
		}
		between.before(o)
		s := o.span.Load()
		between.then(o)
		if ts, ok := o.take(s); ok {
			t.Errorf("%s: %d was taken under the span before", between.name, ts)
		}
		o.close()
	}
}

// flush lets groups of commits come and go, and returns their timestamps.
func flush(t *testing.T, o *oracle, hidden *atomic.Uint64, rounds int) (commits []uint64) {
	for range rounds {
		n := 1 + rand.IntN(3)
		first, err := o.Reserve(n)
		if errors.Is(err, errOracleRange) {
			continue
		}
		if err != nil {
			t.Error(err)
			return commits
		}
		hidden.Store(first)
		for i := range n {
			commits = append(commits, first+uint64(i))
		}
		for range rand.IntN(100) { // the group is on its way
			_ = hidden.Load()
		}
		hidden.Store(0)
		o.Visible()
	}
	return commits
}

// TestOracleCrashInTheRangeWrite: the process dies before or after the ceiling is
// written, at any range; the next one never repeats a timestamp.
func TestOracleCrashInTheRangeWrite(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		var last uint64
		for process := range 8 {
			died, at := false, []string{stepOracleRange, stepOracleRangeWritten}[process%2]
			writes := 0
			opts := Options{Mode: mode, sizes: smallSizes, Step: func(step string, _ Cell) error {
				if step == at {
					if writes++; writes > process/2 {
						died = true
						return ErrCrash
					}
				}
				return nil
			}}
			db := open(t, table, opts)
			for range 10 * smallSizes.allocated {
				tx, err := db.Begin(context.Background())
				if err != nil {
					if !errors.Is(err, ErrCrash) {
						t.Fatal(err)
					}
					break
				}
				if tx.Start() <= last {
					t.Fatalf("process %d handed out %d after %d", process, tx.Start(), last)
				}
				last = tx.Start()
				tx.Rollback()
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if !died {
				t.Errorf("process %d never met %s", process, at)
			}
		}
	})
}

// TestOracleLooksAtNoClock: a change of the clock cannot make timestamps go
// backwards, since nothing in the oracle asks what time it is.
func TestOracleLooksAtNoClock(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "oracle.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		if i.Path.Value == `"time"` {
			t.Error("oracle.go imports time")
		}
	}
}

// TestAbandoned: the wall time in a lock counts in both directions, so that a clock
// that was set back does not keep a stuck owner's lock for ever.
func TestAbandoned(t *testing.T) {
	const ttl = 10 * time.Second
	db := &DB{liveness: epoch("7"), opts: Options{LockTTL: ttl}}
	for _, tc := range []struct {
		token string
		age   time.Duration
		want  bool
	}{
		{"7", 0, false},
		{"7", 9 * time.Second, false},
		{"7", 11 * time.Second, true},
		{"7", -9 * time.Second, false},
		{"7", -time.Hour, true}, // written by a clock that was an hour ahead
		{"6", 0, true},          // an earlier process
		{"6", -time.Hour, true},
	} {
		lock := lockRecord{token: tc.token, wall: time.Now().Add(-tc.age)}
		if got := db.abandoned(context.Background(), lock); got != tc.want {
			t.Errorf("token %s, %v old: abandoned %v", tc.token, tc.age, got)
		}
	}
}

// BenchmarkOracle hands out timestamps to all processors at once, and to one.
func BenchmarkOracle(b *testing.B) {
	o, err := newOracle(context.Background(), 16, usualSizes, func(context.Context, uint64) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	defer o.close()
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if _, err := o.Next(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mts/s")
	})
	b.Run("all", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := o.Next(context.Background()); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mts/s")
	})
}
