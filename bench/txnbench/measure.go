package txnbench

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

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
		fails measure.FirstError
		group sync.WaitGroup
	)
	began := time.Now()
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	for g := range n {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), uint64(began.UnixNano())))
			done := int64(0)
			for {
				if err := op(ctx, rng); err != nil {
					fails.Set(err)
					stop.Store(true)
					break
				}
				if done++; stop.Load() {
					break // after one at least, however short the time
				}
			}
			total.Add(done)
		})
	}
	group.Wait()
	if err := errors.Join(fails.Get(), context.Cause(ctx)); err != nil {
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
