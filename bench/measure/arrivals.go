package measure

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
	"golang.org/x/sync/errgroup"
)

// Arrivals calls handle n times, with numbers from 0 on, at random moments (a Poisson process) at
// an average rate. Each call gets the moment at which it was due: it is late if all workers are
// busy, but it delays none of those that are due after it.
func Arrivals(ctx context.Context, rng *rand.Rand, perSecond float64, n, workers int, handle func(ctx context.Context, i int, due time.Time) error) error {
	type arrival struct {
		i   int
		due time.Time
	}
	queue := make(chan arrival, n)
	g, ctx := errgroup.WithContext(ctx)
	for range max(workers, 1) {
		g.Go(func() error {
			for a := range queue {
				if err := handle(ctx, a.i, a.due); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(queue)
		due := time.Now()
		for i := range n {
			due = due.Add(time.Duration(rng.ExpFloat64() / perSecond * float64(time.Second)))
			if err := sleep.For(ctx, time.Until(due)); err != nil {
				return err
			}
			queue <- arrival{i, due}
		}
		return nil
	})
	return g.Wait()
}
