// Package querybench measures how long queries take: alone, during a replay, and on several
// shards compared with one index.
package querybench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/repository"
)

// Options of Run.
type Options struct {
	Files     []string // WARC files: queries run on the result of replaying them, alone and during another replay of them
	Index     string   // directory of index files, if there are neither Files nor Documents
	Documents int      // how many documents to generate instead
	Shards    int      // number of indexes into which they are divided; each query asks all at once, alternating with one that has everything
	Queries   int
	PerHost   int
	Weights   search.Weights
	Profile   string                                      // keeps the processor profile of the queries in this file; "" for none
	Replay    func(ctx context.Context, dir string) error // replays Files into a directory, in another process
	Log       io.Writer
}

// Result is how long queries take, ten hits with snippets each.
type Result struct {
	Documents int      `json:"documents"`
	Shards    int      `json:"shards"`
	Queries   int      `json:"queries"`
	Idle      Quantile `json:"idle_ms"` // without load: the baseline
	// IdleCPU is the processor time of the same queries, which other work on the machine
	// changes less.
	IdleCPU Quantile `json:"idle_cpu_ms"`
	// Beside is the time during a replay into another directory, in another process; Ratio is
	// Beside / Idle. The two alternate, a hundred queries at a time.
	Beside *Quantile `json:"beside_replay_ms,omitempty"`
	Ratio  *Quantile `json:"ratio,omitempty"`
	// One is the time of the same queries with one index that has the documents of all shards,
	// alternating a hundred queries at a time, and OneCPU its processor time; Sharded and
	// ShardedCPU are Idle / One and IdleCPU / OneCPU.
	One        *Quantile `json:"one_index_ms,omitempty"`
	OneCPU     *Quantile `json:"one_index_cpu_ms,omitempty"`
	Sharded    *Quantile `json:"sharded_ratio,omitempty"`
	ShardedCPU *Quantile `json:"sharded_cpu_ratio,omitempty"`
}

// Quantile is a distribution.
type Quantile struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// over is the quotients of two distributions; 0 where there is nothing to compare with.
func (q Quantile) over(base Quantile) *Quantile {
	quotient := func(a, b float64) float64 {
		if b == 0 {
			return 0
		}
		return a / b
	}
	return &Quantile{P50: quotient(q.P50, base.P50), P90: quotient(q.P90, base.P90), P99: quotient(q.P99, base.P99), Max: quotient(q.Max, base.Max)}
}

// Run measures queries one after the other, with one reader.
func Run(ctx context.Context, o Options) (*Result, error) {
	res, err := measure.InTemp(func(dir string) (*Result, error) { return run(ctx, dir, &o) })
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	return res, nil
}

func run(ctx context.Context, dir string, o *Options) (res *Result, err error) {
	b := &bench{o: o, dir: dir}
	defer func() { err = errors.Join(err, b.close()) }()
	if err := b.open(ctx); err != nil {
		return nil, err
	}
	queries, n, err := b.queries(ctx)
	if err != nil {
		return nil, err
	}
	res = &Result{Documents: n, Shards: len(b.readers), Queries: len(queries)}
	return res, b.measure(ctx, queries, res)
}

type bench struct {
	o       *Options
	dir     string
	readers []*index.Reader // of the shards, which each query asks all
	one     []*index.Reader // of the one index that several shards are compared with
}

// open creates or finds the indexes that are queried.
func (b *bench) open(ctx context.Context) error {
	o := b.o
	dirs, one := []string{o.Index}, []string(nil)
	var err error
	switch {
	case len(o.Files) > 0:
		_, _ = fmt.Fprintln(o.Log, "replaying")
		data := filepath.Join(b.dir, "data")
		dirs, err = []string{repository.IndexDir(data)}, o.Replay(ctx, data)
	case o.Documents > 0:
		_, _ = fmt.Fprintf(o.Log, "generating %d documents in %d shards\n", o.Documents, o.Shards)
		if dirs, err = generateIndexes(ctx, filepath.Join(b.dir, "shards"), o.Documents, o.Shards); err == nil && o.Shards > 1 {
			_, _ = fmt.Fprintf(o.Log, "generating %d documents in one index\n", o.Documents)
			one, err = generateIndexes(ctx, filepath.Join(b.dir, "one"), o.Documents, 1)
		}
	}
	if err != nil {
		return err
	}
	if b.readers, err = openReaders(dirs); err != nil {
		return err
	}
	b.one, err = openReaders(one)
	return err
}

func openReaders(dirs []string) (list []*index.Reader, err error) {
	for _, d := range dirs {
		r, err := index.OpenReader(d)
		if err != nil {
			return nil, errors.Join(err, closeReaders(list))
		}
		list = append(list, r)
	}
	return list, nil
}

func closeReaders(list []*index.Reader) error {
	var errs []error
	for _, r := range list {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

func (b *bench) close() error { return errors.Join(closeReaders(b.readers), closeReaders(b.one)) }

// queries are one to four words that appear in one document, from its title or its text: the mix of
// frequent and rare words that people ask for, each with at least one answer.
func (b *bench) queries(ctx context.Context) (list []string, documents int, err error) {
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

// Text is the result as people read it.
func (r *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d documents, %d queries, shards: %d\n", r.Documents, r.Queries, r.Shards)
	fmt.Fprintf(&b, "%-14s %8s %8s %8s %8s\n", "", "p50", "p90", "p99", "max")
	row := func(name, unit string, q *Quantile) {
		fmt.Fprintf(&b, "%-14s %8.2f %8.2f %8.2f %8.2f %s\n", name, q.P50, q.P90, q.P99, q.Max, unit)
	}
	row("alone", "ms", &r.Idle)
	row("its CPU time", "ms", &r.IdleCPU)
	if r.Beside != nil {
		row("during replay", "ms", r.Beside)
		row("ratio", "", r.Ratio)
	}
	if r.One != nil {
		row("one index", "ms", r.One)
		row("its CPU time", "ms", r.OneCPU)
		row("shards/one", "", r.Sharded)
		row("CPU", "", r.ShardedCPU)
	}
	return b.String()
}
