package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"indexer/index"
	"indexer/repository"
)

// QueryOptions of Query.
type QueryOptions struct {
	Files     []string // WARC files: queried is what a replay of them makes, alone and beside another replay of them
	Index     string   // directory of index files, if there are neither Files nor Documents
	Documents int      // how many documents to generate instead
	Shards    int      // into how many indexes they are divided; each query asks all at once
	Queries   int
	PerHost   int
	Weights   index.Weights
	Replay    func(ctx context.Context, dir string) error // replays Files into a directory, in another process
	Log       io.Writer
}

// QueryResult is how long queries take, ten hits with snippets each.
type QueryResult struct {
	Documents int      `json:"documents"`
	Shards    int      `json:"shards"`
	Queries   int      `json:"queries"`
	Idle      Quantile `json:"idle_ms"` // nothing of ours beside it: the baseline
	// IdleCPU is the processor time of the same queries, which other work on the machine
	// hardly changes.
	IdleCPU Quantile `json:"idle_cpu_ms"`
	// Beside is with a replay into another directory under way, in a process of its own; and Ratio is
	// Beside / Idle. Both ran in turns of a hundred queries.
	Beside *Quantile `json:"beside_replay_ms,omitempty"`
	Ratio  *Quantile `json:"ratio,omitempty"`
}

// Quantile is a distribution.
type Quantile struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Query measures queries one after the other, as one reader asks them.
func Query(ctx context.Context, o QueryOptions) (res *QueryResult, err error) {
	dir, err := os.MkdirTemp("", "indexer-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	dirs, err := queryIndexes(ctx, dir, &o)
	if err != nil {
		return nil, fmt.Errorf("bench query: %w", err)
	}
	b := &queryBench{o: &o}
	defer func() { err = errors.Join(err, b.close()) }()
	for _, d := range dirs {
		r, err := index.OpenReader(d)
		if err != nil {
			return nil, fmt.Errorf("bench query: %w", err)
		}
		b.readers = append(b.readers, r)
	}
	queries, n, err := b.queries(ctx)
	if err != nil {
		return nil, fmt.Errorf("bench query: %w", err)
	}
	res = &QueryResult{Documents: n, Shards: len(dirs), Queries: len(queries)}
	if err := b.measure(ctx, dir, queries, res); err != nil {
		return nil, fmt.Errorf("bench query: %w", err)
	}
	return res, nil
}

// queryIndexes makes, or names, the indexes to be asked.
func queryIndexes(ctx context.Context, dir string, o *QueryOptions) ([]string, error) {
	switch {
	case len(o.Files) > 0:
		_, _ = fmt.Fprintln(o.Log, "replaying")
		data := filepath.Join(dir, "data")
		return []string{repository.IndexDir(data)}, o.Replay(ctx, data)
	case o.Documents > 0:
		_, _ = fmt.Fprintf(o.Log, "generating %d documents in %d shards\n", o.Documents, o.Shards)
		return generateIndexes(ctx, dir, o.Documents, o.Shards)
	}
	return []string{o.Index}, nil
}

type queryBench struct {
	o       *QueryOptions
	readers []*index.Reader
}

func (b *queryBench) close() error {
	var errs []error
	for _, r := range b.readers {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// queries are one to four words that stand in one document, from its title or its text: the mix of
// frequent and rare words that people ask for, each with at least one answer.
func (b *queryBench) queries(ctx context.Context) (list []string, documents int, err error) {
	rng := rand.New(rand.NewPCG(1, 1)) // the same queries each time
	var pool []string
	for _, r := range b.readers {
		err := r.Documents(ctx, func(d index.Document) error {
			documents++
			words := strings.Fields(d.Title)
			if rng.IntN(2) == 0 {
				words = strings.Fields(d.Text[:min(len(d.Text), 2000)])
			}
			var q []string
			for range 1 + rng.IntN(4) {
				if len(words) > 0 {
					q = append(q, strings.TrimLeft(words[rng.IntN(len(words))], "-\""))
				}
			}
			pool = append(pool, strings.Join(q, " "))
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	return pool[:min(len(pool), b.o.Queries)], documents, nil
}

// turn is how many queries run before alone and beside change places.
const turn = 100

// measure asks all queries, alone and, with files, beside a replay, in turns.
func (b *queryBench) measure(ctx context.Context, dir string, queries []string, res *QueryResult) error {
	var idle, beside, cpu []float64
	if _, _, err := b.ask(ctx, queries[:min(len(queries), turn)]); err != nil { // warm
		return err
	}
	for n := 0; len(queries) > 0; n++ {
		part := queries[:min(len(queries), turn)]
		queries = queries[len(part):]
		took, worked, err := b.ask(ctx, part)
		if err != nil {
			return err
		}
		idle, cpu = append(idle, took...), append(cpu, worked...)
		if len(b.o.Files) == 0 {
			continue
		}
		err = b.withReplay(ctx, filepath.Join(dir, fmt.Sprint("beside", n)), func(ctx context.Context) error {
			took, _, err := b.ask(ctx, part)
			beside = append(beside, took...)
			return err
		})
		if err != nil {
			return err
		}
	}
	res.Idle, res.IdleCPU = quantiles(idle), quantiles(cpu)
	if len(beside) > 0 {
		q := quantiles(beside)
		res.Beside = &q
		res.Ratio = &Quantile{P50: q.P50 / res.Idle.P50, P90: q.P90 / res.Idle.P90, P99: q.P99 / res.Idle.P99, Max: q.Max / res.Idle.Max}
	}
	return nil
}

// replayStart is how long a replay has been running when the queries begin, so that
// all its parts are at work.
const replayStart = 2 * time.Second

// withReplay runs fn while a replay is under way, which is stopped afterwards.
func (b *queryBench) withReplay(ctx context.Context, dir string, fn func(context.Context) error) error {
	rctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- b.o.Replay(rctx, dir) }()
	select {
	case err := <-done:
		return errors.Join(errors.New("the replay was over before the queries began; give it larger files"), err)
	case <-time.After(replayStart):
	}
	err := fn(ctx)
	stop()
	if rerr := <-done; rerr != nil && rctx.Err() == nil {
		err = errors.Join(err, rerr)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// ask runs queries one by one and gives their times, and the processor's, in ms.
func (b *queryBench) ask(ctx context.Context, queries []string) (took, worked []float64, err error) {
	opts := index.Options{PerHost: b.o.PerHost, Weights: b.o.Weights}
	for _, q := range queries {
		began, cpu := time.Now(), processorTime()
		g, gctx := errgroup.WithContext(ctx)
		for _, r := range b.readers {
			g.Go(func() error {
				_, err := r.Search(gctx, q, opts)
				if usage := (*index.UsageError)(nil); errors.As(err, &usage) {
					return nil // a word of signs only
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, nil, fmt.Errorf("%q: %w", q, err)
		}
		took = append(took, float64(time.Since(began).Microseconds())/1000)
		worked = append(worked, float64((processorTime()-cpu).Microseconds())/1000)
	}
	return took, worked, nil
}

func quantiles(ms []float64) Quantile {
	slices.Sort(ms)
	at := func(q float64) float64 {
		if len(ms) == 0 {
			return 0
		}
		return ms[min(int(q*float64(len(ms))), len(ms)-1)]
	}
	return Quantile{P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: at(1)}
}
