package txnbench

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/bench/measure"
)

// work is one operation of a benchmark. It gets the goroutine's own source of
// random numbers.
type work func(ctx context.Context, rng *rand.Rand) error

// rate runs an operation over and over from n goroutines for some time, and
// returns how many ended per second. The first error ends it.
//
// It does not read the clock between operations: a read takes a microsecond, so the
// clock would be a part of the measurement.
func rate(ctx context.Context, n int, d time.Duration, op work) (float64, error) {
	var (
		stop  atomic.Bool
		total atomic.Int64
		g     errgroup.Group
	)
	began := time.Now()
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	for i := range n {
		g.Go(func() error {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(began.UnixNano())))
			for done := int64(1); ; done++ { // one at least, however short the time
				if err := op(ctx, rng); err != nil {
					stop.Store(true)
					return err
				}
				if stop.Load() {
					total.Add(done)
					return nil
				}
			}
		})
	}
	if err := errors.Join(g.Wait(), context.Cause(ctx)); err != nil {
		return 0, err
	}
	return float64(total.Load()) / time.Since(began).Seconds(), nil
}

// cost is what an operation took.
type cost struct {
	perSecond float64
	wall, cpu float64 // µs an operation; cpu is 0 where not known
}

// costOf is rate, with what was used of the processors meanwhile, by background work
// too. Other programs on the machine take from the rate, and hardly from that.
func costOf(ctx context.Context, n int, d time.Duration, op work) (c cost, err error) {
	runtime.GC() // the garbage of the one before is not this one's
	began, used := time.Now(), measure.ProcessorTime()
	if c.perSecond, err = rate(ctx, n, d, op); err != nil {
		return cost{}, err
	}
	ops := c.perSecond * time.Since(began).Seconds()
	c.wall, c.cpu = 1e6/c.perSecond, float64((measure.ProcessorTime()-used).Microseconds())/ops
	return c, nil
}
