package observers_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// schedule says, together with the seed, how the fetches of a web are loaded.
type schedule struct {
	mode    txn.Mode
	workers int // 0: one step at a time
	// nested lets other runs and loads happen between what a transaction reads
	// and its commit. One-phase only: a two-phase transaction has locks out then,
	// for which the others would wait in the same goroutine.
	nested bool
	// crashes end the process now and then, between any two steps of a commit.
	crashes bool
	// tolerance of ranks, 0 for the default: a large one leaves many choices of canonical
	// URLs to settle.
	tolerance float64
	// files exports to real index files, instead of documents in memory.
	files bool
	// rows is how many link rows a run reads of a cluster, 0 for as many as usual: with
	// few, inlinks are counted in passes of many runs.
	rows int
	// A cluster with more than giant members has summaries of a few members each, and a
	// document carries only two members and one anchor; 0: as usual.
	giant int
	// ranks are the limits of runs of rank.
	ranks pagerank.Limits
	// part is how many links a part holds, and so how many a run of links inverts; 0 for as
	// usual.
	part int
	// fillers gives most pages some dozens of links more.
	fillers bool
	// apart makes document leave everything to cluster and links.
	apart bool
	// render is the setting of rendering; pages of webs that are rendered have scripts.
	render schema.RenderSetting
}

// TestRandomWebs loads random webs in random order while observers run, and compares
// their result with the batch over the same fetches. Each run draws new webs.
func TestRandomWebs(t *testing.T) {
	for _, s := range []struct {
		name        string
		schedule    schedule
		urls        int
		usual, long int // seeds
	}{
		{"steps, small", schedule{mode: txn.OnePhase, nested: true}, 6, 234, 5000},
		{"steps", schedule{mode: txn.OnePhase, nested: true}, 40, 15, 500},
		{"steps apart, small", schedule{mode: txn.OnePhase, nested: true, apart: true}, 6, 100, 5000},
		{"steps apart", schedule{mode: txn.OnePhase, nested: true, apart: true}, 40, 5, 500},
		{"steps, large", schedule{mode: txn.OnePhase, nested: true}, 200, 3, 20},
		{"steps, two-phase", schedule{mode: txn.TwoPhase}, 12, 20, 500},
		{"crashes", schedule{mode: txn.OnePhase, crashes: true}, 12, 20, 500},
		{"crashes, two-phase", schedule{mode: txn.TwoPhase, crashes: true}, 8, 20, 500},
		{"1 worker", schedule{mode: txn.OnePhase, workers: 1}, 30, 5, 100},
		{"4 workers", schedule{mode: txn.OnePhase, workers: 4}, 30, 6, 200},
		{"4 workers, apart", schedule{mode: txn.OnePhase, workers: 4, apart: true}, 30, 3, 200},
		{"16 workers", schedule{mode: txn.OnePhase, workers: 16}, 30, 5, 100},
		{"4 workers, two-phase", schedule{mode: txn.TwoPhase, workers: 4}, 12, 4, 60},
		{"16 workers, two-phase", schedule{mode: txn.TwoPhase, workers: 16}, 12, 2, 40},
		{"coarse ranks, small", schedule{mode: txn.OnePhase, nested: true, tolerance: 0.1}, 10, 134, 3000},
		{"coarse ranks", schedule{mode: txn.OnePhase, crashes: true, tolerance: 0.03}, 30, 14, 300},
		{"coarse ranks, 16 workers", schedule{mode: txn.OnePhase, workers: 16, tolerance: 0.1}, 60, 2, 50},
		{"inlinks in passes, small", schedule{mode: txn.OnePhase, nested: true, rows: 1}, 8, 67, 2000},
		{"inlinks in passes", schedule{mode: txn.OnePhase, nested: true, rows: 2, tolerance: 0.05}, 30, 14, 300},
		{"inlinks in passes, crashes", schedule{mode: txn.OnePhase, crashes: true, rows: 2}, 12, 14, 300},
		{"inlinks in passes, 16 workers", schedule{mode: txn.OnePhase, workers: 16, rows: 3}, 40, 4, 100},
		{"ranks in parts, small", schedule{mode: txn.OnePhase, nested: true, ranks: pagerank.Limits{States: 1 << 20, Direct: 1, Part: 1}}, 8, 67, 2000},
		{"ranks in parts", schedule{mode: txn.OnePhase, nested: true, tolerance: 0.05, ranks: pagerank.Limits{States: 20, Direct: 4, Part: 3}}, 40, 14, 300},
		{"ranks in parts, crashes", schedule{mode: txn.OnePhase, crashes: true, ranks: pagerank.Limits{States: 8, Direct: 2, Part: 2}}, 12, 20, 500},
		{"ranks in parts, two-phase", schedule{mode: txn.TwoPhase, crashes: true, ranks: pagerank.Limits{States: 30, Direct: 3, Part: 2}}, 8, 14, 300},
		{"ranks in parts, 16 workers", schedule{mode: txn.OnePhase, workers: 16, ranks: pagerank.Limits{States: 25, Direct: 5, Part: 4}}, 40, 4, 100},
		{"links in parts, small", schedule{mode: txn.OnePhase, nested: true, part: 1}, 6, 134, 4000},
		{"links in parts", schedule{mode: txn.OnePhase, nested: true, part: 2}, 40, 20, 500},
		{"links in parts, long", schedule{mode: txn.OnePhase, nested: true, part: 4, fillers: true}, 10, 34, 1000},
		{"links in parts, crashes", schedule{mode: txn.OnePhase, crashes: true, part: 2, rows: 2}, 12, 20, 500},
		{"links in parts, two-phase", schedule{mode: txn.TwoPhase, part: 1}, 10, 14, 300},
		{"links in parts, two-phase, crashes", schedule{mode: txn.TwoPhase, crashes: true, part: 2}, 8, 20, 500},
		{"links in parts, 1 worker", schedule{mode: txn.OnePhase, workers: 1, part: 2}, 30, 4, 100},
		{"links in parts, 2 workers", schedule{mode: txn.OnePhase, workers: 2, part: 1}, 30, 4, 100},
		{"links in parts, 16 workers", schedule{mode: txn.OnePhase, workers: 16, part: 3, giant: 3}, 40, 4, 100},
		{"links in parts, 16 workers, two-phase", schedule{mode: txn.TwoPhase, workers: 16, part: 2}, 12, 2, 40},
		{"links in parts, ranks in parts", schedule{mode: txn.OnePhase, nested: true, tolerance: 0.05, part: 3, ranks: pagerank.Limits{States: 20, Direct: 4, Part: 3}}, 40, 14, 300},
		{"giants, small", schedule{mode: txn.OnePhase, nested: true, giant: 1}, 8, 100, 3000},
		{"giants", schedule{mode: txn.OnePhase, nested: true, giant: 4, rows: 5}, 40, 20, 500},
		{"giants, coarse ranks", schedule{mode: txn.OnePhase, nested: true, giant: 2, tolerance: 0.1}, 12, 100, 2000},
		{"giants, crashes", schedule{mode: txn.OnePhase, crashes: true, giant: 2, rows: 3, tolerance: 0.05}, 12, 20, 500},
		{"giants, two-phase", schedule{mode: txn.TwoPhase, crashes: true, giant: 2}, 10, 14, 300},
		{"giants, 16 workers", schedule{mode: txn.OnePhase, workers: 16, giant: 3, rows: 6}, 40, 4, 100},
		{"4 workers, index files", schedule{mode: txn.OnePhase, workers: 4, files: true}, 20, 3, 20},
	} {
		t.Run(s.name, func(t *testing.T) {
			seeds := testenv.Size(1+s.usual/50, s.usual, s.long)
			runSeeds(t, seeds, func(seed uint64) error { return s.schedule.check(t.Context(), seed, s.urls) })
		})
	}
}

// runSeeds runs a test for the given number of seeds, new ones in each run, or only for
// INDEXER_SEED, on all cores.
func runSeeds(t *testing.T, seeds int, test func(seed uint64) error) {
	t.Helper()
	first, only := testenv.FirstSeed(t, testenv.Fresh(t))
	if only {
		seeds = 1
	}
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i := range uint64(seeds) {
		work.Go(func() error {
			if t.Failed() {
				return nil
			}
			if err := test(first + i); err != nil {
				t.Errorf("INDEXER_SEED=%d: %v", first+i, err)
			}
			return nil
		})
	}
	_ = work.Wait() // errors are the test's
}

// giants makes giants of clusters with more than n members, with summaries of very few
// members each.
func giants(n int) cluster.Limits {
	return cluster.Limits{Giant: n, Largest: 3, Split: 2, Smallest: 2, Read: 4, Run: 5}
}

func (s schedule) limits() observers.Limits {
	l := observers.Limits{Rank: s.ranks, Document: s.documents()}
	if s.giant > 0 {
		l.Cluster = giants(s.giant)
	}
	if s.apart {
		l.AtOnce = -1
	}
	return l
}

// documents returns the limits of what is read and shown of a cluster.
func (s schedule) documents() (l document.Limits) {
	if s.rows > 0 {
		l.InlinkRows, l.Passes = s.rows, 2
	}
	if s.giant > 0 {
		l.Members, l.Anchors, l.CountedAnchors, l.Insiders = 2, 1, 1, s.giant
	}
	return l
}

// check loads a random web, and reports what differs from the batch in the end, with as
// few fetches as show it.
func (s schedule) check(ctx context.Context, seed uint64, urls int) error {
	random := rand.New(rand.NewPCG(seed, 0))
	web := webtest.RandomWeb(random, urls)
	if s.fillers {
		web.Weak = 80
	}
	fetches := web.Make(random)
	if s.render != schema.RenderOff {
		addScripts(random, fetches)
	}
	return s.checkFetches(ctx, seed, fetches)
}

func (s schedule) checkFetches(ctx context.Context, seed uint64, fetches []*page.Fetch) error {
	diff, err := s.run(ctx, seed, fetches)
	if err != nil || len(diff) == 0 {
		return err
	}
	// Fewer fetches are run in another order of steps: some are tried.
	fetches = webtest.Shrink(fetches, func(few []*page.Fetch) bool {
		for order := range uint64(50) {
			if again, err := s.run(ctx, order, few); err == nil && len(again) > 0 {
				diff = again
				return true
			}
		}
		return false
	})
	return fmt.Errorf("differs from the batch:\n%s\nafter these fetches in this order:\n%s",
		strings.Join(diff, "\n"), webtest.Describe(fetches))
}

// run loads the fetches in the order given (which is random in time), returning
// what differs in the end.
func (s schedule) run(ctx context.Context, seed uint64, fetches []*page.Fetch) ([]string, error) {
	p := &player{schedule: s, random: rand.New(rand.NewPCG(seed, 1)), left: fetches}
	p.eager = p.random.IntN(100)
	out, err := s.openOutput(ctx)
	if err != nil {
		return nil, err
	}
	defer out.close()
	if err := p.open(ctx, webtest.Options{Sink: out.sink, Graph: p.newGraphCache()}); err != nil {
		return nil, err
	}
	play := p.step
	if s.workers > 0 {
		play = p.loadAtOnce
	}
	if err := play(ctx); err != nil {
		return nil, fmt.Errorf("%w\nfetches\n%s", err, webtest.Describe(fetches))
	}
	docs, err := out.documents()
	if err != nil {
		return nil, err
	}
	diff, err := webtest.Differences(ctx, p.rig.DB, docs, fetches, webtest.Comparison{Limits: s.limits(), Browser: p.browser(), Sink: out.sink})
	if err != nil {
		return nil, err
	}
	return diff, errors.Join(p.graphErr, p.rig.Close())
}

// player is a run of a schedule.
type player struct {
	schedule
	random *rand.Rand
	rig    *webtest.Rig
	left   []*page.Fetch
	eager  int // part of 100 of the actions that load
	depth  int // of nested actions
	// crashed: nothing may go on before a restart.
	crashed bool
	// graphFile is the file of the cached link graph.
	graphFile webtest.GraphFile
	graph     *observers.GraphCache
	graphErr  error // of reading or writing it
}

// newGraphCache returns the cache of the next process: an empty one after a crash.
func (p *player) newGraphCache() *observers.GraphCache {
	last := p.graph
	p.graph = observers.NewGraphCache(&p.graphFile, func(what string, err error) {
		p.graphErr = errors.Join(p.graphErr, fmt.Errorf("%s: %w", what, err))
	})
	if last != nil && !p.crashed {
		if stored, rows, ok := last.Notes(); ok {
			p.graph.Restore(stored, rows)
		}
	}
	return p.graph
}

func (p *player) open(ctx context.Context, opts webtest.Options) (err error) {
	opts.Mode, opts.Workers, opts.Tolerance = p.mode, p.workers, p.tolerance
	opts.Limits, opts.Render, opts.Browser = p.limits(), p.render, p.browser()
	if p.part > 0 {
		opts.Part = schema.PartSize{Entries: p.part, Bytes: schema.UsualPart.Bytes}
	}
	opts.Step = func(step string, _ txn.Cell) error {
		if p.crashes && p.random.IntN(150) == 0 {
			p.crashed = true
			return txn.ErrCrash
		}
		if p.nested && step == "commit-batch" && p.depth < 3 && p.random.IntN(6) == 0 {
			return p.nest(ctx)
		}
		return nil
	}
	for { // a start can also be cut off
		p.rig, err = webtest.Open(ctx, opts)
		if !errors.Is(err, txn.ErrCrash) {
			return err
		}
	}
}

// nest does something else in the middle of a commit.
func (p *player) nest(ctx context.Context) error {
	p.depth++
	defer func() { p.depth-- }()
	for range 1 + p.random.IntN(4) {
		if _, err := p.act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// act loads a fetch or runs an observer; it reports false when both are done.
func (p *player) act(ctx context.Context) (bool, error) {
	if len(p.left) > 0 && p.random.IntN(100) < p.eager {
		return true, p.load(ctx)
	}
	more, err := p.rig.Step(ctx, p.random.IntN)
	if more || err != nil || len(p.left) == 0 {
		return more, err
	}
	return true, p.load(ctx)
}

func (p *player) load(ctx context.Context) error {
	f := p.left[0]
	p.left = p.left[1:]
	_, err := p.rig.Load(ctx, f)
	if errors.Is(err, txn.ErrCrash) {
		p.left = append([]*page.Fetch{f}, p.left...) // its loader loads it again
		return nil
	}
	return err
}

// step acts until all is done, with restarts on the way.
func (p *player) step(ctx context.Context) error {
	for {
		more, err := p.act(ctx)
		if err != nil || !more {
			return err
		}
		if p.crashed || p.random.IntN(100) == 0 {
			if err := p.restart(ctx); err != nil {
				return err
			}
		}
	}
}

func (p *player) restart(ctx context.Context) error {
	if err := p.rig.Close(); err != nil {
		return err
	}
	graph := p.newGraphCache()
	p.crashed = false
	err := p.open(ctx, webtest.Options{Table: p.rig.Table(), Sink: p.rig.Sink, Graph: graph})
	if err != nil || p.part == 0 || p.workers > 0 {
		return err
	}
	return checkInversions(ctx, p.rig.DB)
}

// loadAtOnce loads from several goroutines, in parts, with a restart of the
// pipeline in the middle of its work after each but the last.
func (p *player) loadAtOnce(ctx context.Context) error {
	for parts := 1 + p.random.IntN(3); parts > 0; parts-- {
		n := len(p.left) / parts
		if err := p.loadPart(ctx, p.left[:n]); err != nil {
			return err
		}
		p.left = p.left[n:]
		if parts > 1 {
			if err := p.restart(ctx); err != nil {
				return err
			}
		}
	}
	return p.rig.Quiesce(ctx, nil)
}

func (p *player) loadPart(ctx context.Context, part []*page.Fetch) error {
	var mu sync.Mutex
	take := func() *page.Fetch {
		mu.Lock()
		defer mu.Unlock()
		if len(part) == 0 {
			return nil
		}
		f := part[0]
		part = part[1:]
		return f
	}
	part = slices.Clone(part)
	var g errgroup.Group
	for range 4 {
		g.Go(func() error {
			for f := take(); f != nil; f = take() {
				if _, err := p.rig.Load(ctx, f); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}
