package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"indexer/index"
	"indexer/page"
)

// maxMissed bounds the examples of missed queries in a report.
const maxMissed = 20

// variant is a way to rank.
type variant struct {
	name   string
	silent bool // ask the index without anchors
	opts   index.Options
}

// variants are the ranking as it is and with parts left out.
func (b *relevance) variants(w index.Weights) []variant {
	plain := index.Options{Weights: w, NoSuggestion: true}
	noRank, noTitle, hosts := plain, plain, plain
	noRank.Weights.Rank = 0
	noTitle.Weights.Title, noTitle.Weights.TitleMatch = w.Body, 0
	list := []variant{
		{name: "all", opts: plain},
		{name: "no anchors", opts: plain, silent: true},
		{name: "no rank", opts: noRank},
		{name: "no title weight", opts: noTitle},
	}
	if b.o.PerHost > 0 {
		hosts.PerHost = b.o.PerHost
		list = append(list, variant{name: fmt.Sprintf("%d a host", b.o.PerHost), opts: hosts})
	}
	return list
}

// report asks the second half of all queries in all variants.
func (b *relevance) report(ctx context.Context, w index.Weights) ([]KindResult, error) {
	var list []KindResult
	for _, k := range b.kinds {
		res := KindResult{Kind: k.name, What: k.what, Population: k.population, Queries: len(k.halves[1])}
		if len(k.halves[1]) == 0 {
			list = append(list, res)
			continue
		}
		for i, v := range b.variants(w) {
			s, err := b.ask(ctx, k.halves[1], v)
			if err != nil {
				return nil, fmt.Errorf("bench relevance: %s, %s: %w", k.name, v.name, err)
			}
			s.Variant = v.name
			if i > 0 {
				s.Missed = nil
			}
			res.Variants = append(res.Variants, s)
		}
		list = append(list, res)
	}
	return list, nil
}

// ask runs queries, some at a time.
func (b *relevance) ask(ctx context.Context, queries []knownItem, v variant) (VariantResult, error) {
	r := b.whole
	if v.silent {
		r = b.silent
	}
	positions := make([]int, len(queries))
	first := make([]page.URL, len(queries))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range queries {
		g.Go(func() error {
			res, err := r.Search(gctx, queries[i].query, v.opts)
			if err != nil {
				return fmt.Errorf("%q: %w", queries[i].query, err)
			}
			for _, h := range res.Hits {
				if h.URL == queries[i].want {
					positions[i] = h.Position
				}
			}
			if len(res.Hits) > 0 {
				first[i] = res.Hits[0].URL
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return VariantResult{}, err
	}
	s := scoresOf(positions)
	for i, p := range positions {
		if p != 1 && len(s.Missed) < maxMissed {
			s.Missed = append(s.Missed, Miss{Query: queries[i].query, Want: string(queries[i].want), Got: string(first[i]), Position: p})
		}
	}
	return s, nil
}

// scoresOf takes the positions of the right pages, 0 for not found.
func scoresOf(positions []int) (s VariantResult) {
	for _, p := range positions {
		if p == 0 {
			continue
		}
		s.MRR += 1 / float64(p)
		if p == 1 {
			s.Success1++
		}
		if p <= 5 {
			s.Success5++
		}
	}
	n := float64(max(len(positions), 1))
	s.Success1, s.Success5, s.MRR = s.Success1/n, s.Success5/n, s.MRR/n
	return s
}

// tune looks for better weights on the first half of the queries: one weight at a time,
// each in steps, until a whole round of them changes nothing. It returns how many it tried.
func (b *relevance) tune(ctx context.Context, w index.Weights) (index.Weights, int, error) {
	best, err := b.objective(ctx, w)
	trials := 1
	for round := 0; err == nil && round < 3; round++ {
		improved := false
		for _, step := range tuneSteps {
			for _, x := range step.values {
				next := w
				if *step.field(&next) == x {
					continue
				}
				*step.field(&next) = x
				var got float64
				if got, err = b.objective(ctx, next); err != nil {
					return w, trials, err
				}
				trials++
				if got > best+0.0005 { // less than half a query of a thousand is no reason
					w, best, improved = next, got, true
					_, _ = fmt.Fprintf(b.o.Log, "%s %g: %.4f\n", step.name, x, got)
				}
			}
		}
		if !improved {
			break
		}
	}
	return w, trials, err
}

// objective is the mean over the kinds of success@1 and MRR on the first half.
func (b *relevance) objective(ctx context.Context, w index.Weights) (float64, error) {
	var parts []float64
	for _, k := range b.kinds {
		if len(k.halves[0]) == 0 {
			continue
		}
		s, err := b.ask(ctx, k.halves[0], variant{opts: index.Options{Weights: w, NoSuggestion: true}})
		if err != nil {
			return 0, fmt.Errorf("bench relevance: %s: %w", k.name, err)
		}
		parts = append(parts, (s.Success1+s.MRR)/2)
	}
	sum := 0.0
	for _, p := range slices.Sorted(slices.Values(parts)) {
		sum += p
	}
	return sum / float64(max(len(parts), 1)), nil
}

var tuneSteps = []struct {
	name   string
	field  func(*index.Weights) *float64
	values []float64
}{
	{"title", func(w *index.Weights) *float64 { return &w.Title }, []float64{3, 5, 10, 20, 40}},
	{"anchors", func(w *index.Weights) *float64 { return &w.Anchors }, []float64{1, 2, 4, 8, 16}},
	{"outside", func(w *index.Weights) *float64 { return &w.Outside }, []float64{2, 4, 8, 16, 32}},
	{"url", func(w *index.Weights) *float64 { return &w.URL }, []float64{0, 1, 2, 5, 10}},
	{"title_match", func(w *index.Weights) *float64 { return &w.TitleMatch }, []float64{4, 8, 16, 32}},
	{"anchor_match", func(w *index.Weights) *float64 { return &w.AnchorMatch }, []float64{0, 0.5, 1, 2, 4, 8}},
	{"rank", func(w *index.Weights) *float64 { return &w.Rank }, []float64{0, 0.02, 0.05, 0.1, 0.2}},
}
