package querybench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
)

// turn is how many queries run before what is compared changes places.
const turn = 100

// took holds the times and processor times of queries, in ms.
type took struct{ wall, cpu []float64 }

func (t *took) add(other took) {
	t.wall, t.cpu = append(t.wall, other.wall...), append(t.cpu, other.cpu...)
}

// measure runs all queries alone; with files, also during a replay; with several shards,
// alternating with one index.
func (b *bench) measure(ctx context.Context, queries []string, res *Result) (err error) {
	var alone, beside, one took
	warm := queries[:min(len(queries), turn)]
	for _, readers := range [][]*index.Reader{b.readers, b.one} {
		if _, err := b.ask(ctx, readers, warm); err != nil {
			return err
		}
	}
	stop, err := b.startProfile()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	for n := 0; len(queries) > 0; n++ {
		part := queries[:min(len(queries), turn)]
		queries = queries[len(part):]
		steps := []func() error{
			func() error { return b.askInto(ctx, &alone, b.readers, part) },
			func() error { return b.askInto(ctx, &one, b.one, part) },
		}
		if n%2 == 1 { // neither is always the first
			slices.Reverse(steps)
		}
		if len(b.o.Files) > 0 {
			steps = append(steps, func() error {
				return b.withReplay(ctx, filepath.Join(b.dir, fmt.Sprint("beside", n)), func(ctx context.Context) error {
					return b.askInto(ctx, &beside, b.readers, part)
				})
			})
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
	}
	res.tell(alone, beside, one)
	return nil
}

// startProfile begins the processor profile, if one is wanted, and returns what ends it.
func (b *bench) startProfile() (stop func() error, err error) {
	if b.o.Profile == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(b.o.Profile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

func (r *Result) tell(alone, beside, one took) {
	r.Idle, r.IdleCPU = quantiles(alone.wall), quantiles(alone.cpu)
	if len(beside.wall) > 0 {
		q := quantiles(beside.wall)
		r.Beside, r.Ratio = &q, q.over(r.Idle)
	}
	if len(one.wall) > 0 {
		wall, cpu := quantiles(one.wall), quantiles(one.cpu)
		r.One, r.OneCPU = &wall, &cpu
		r.Sharded, r.ShardedCPU = r.Idle.over(wall), r.IdleCPU.over(cpu)
	}
}

// replayStart is how long a replay runs before the queries begin, so that all its parts
// are at work.
const replayStart = 2 * time.Second

// withReplay runs fn while a replay is under way, and stops the replay afterwards. A replay that ends before
// fn makes the figures worthless, which is an error.
func (b *bench) withReplay(ctx context.Context, dir string, fn func(context.Context) error) error {
	rctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- b.o.Replay(rctx, dir) }()
	select {
	case err := <-done:
		return errors.Join(errors.New("the replay was over before the queries began; give it larger files"), err, os.RemoveAll(dir))
	case <-time.After(replayStart):
	}
	err := fn(ctx)
	select {
	case rerr := <-done:
		err = errors.Join(err, errors.New("the replay was over before the queries were; give it larger files"), rerr)
	default:
		stop()
		<-done // how it ends when it is stopped tells nothing
	}
	return errors.Join(err, os.RemoveAll(dir))
}

func (b *bench) askInto(ctx context.Context, to *took, readers []*index.Reader, queries []string) error {
	t, err := b.ask(ctx, readers, queries)
	to.add(t)
	return err
}

// ask runs queries one by one, each of all readers at once.
func (b *bench) ask(ctx context.Context, readers []*index.Reader, queries []string) (t took, err error) {
	if len(readers) == 0 {
		return t, nil
	}
	opts := search.Options{PerHost: b.o.PerHost, Weights: b.o.Weights}
	for _, q := range queries {
		began, cpu := time.Now(), measure.ProcessorTime()
		g, gctx := errgroup.WithContext(ctx)
		for _, r := range readers {
			g.Go(func() error {
				_, err := r.Search(gctx, q, opts)
				if _, ok := errors.AsType[*search.UsageError](err); ok {
					return nil // a word of signs only
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return t, fmt.Errorf("%q: %w", q, err)
		}
		t.wall = append(t.wall, measure.Milliseconds(time.Since(began)))
		t.cpu = append(t.cpu, measure.Milliseconds(measure.ProcessorTime()-cpu))
	}
	return t, nil
}

func quantiles(ms []float64) Quantile {
	slices.Sort(ms)
	at := func(q float64) float64 { return measure.Quantile(ms, q) }
	return Quantile{P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: at(1)}
}
