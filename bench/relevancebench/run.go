package relevancebench

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// maxMissed bounds the examples of missed queries in a report.
const maxMissed = 20

// variant is a way to rank.
type variant struct {
	name  string
	index searcher
	opts  search.Options
}

// variants are the ranking as it is and with parts left out.
func (b *bench) variants() []variant {
	without := func(name string, change func(*search.Weights)) variant {
		v := variant{name: name, index: b.whole, opts: search.Options{Weights: b.o.Weights, NoSuggestion: true, Language: b.o.Language, Unfold: true}}
		change(&v.opts.Weights)
		return v
	}
	same := func(*search.Weights) {}
	silent, own, hosts := without("no anchors", same), without("no outside anchors", same), without(fmt.Sprintf("%d a host", b.o.PerHost), same)
	silent.index, own.index, hosts.opts.PerHost = b.silent, b.own, b.o.PerHost
	folded := without("folded", same)
	folded.opts.Unfold = false
	if b.server != nil {
		return b.servedVariants(without("all", same), folded)
	}
	list := []variant{
		without("all", same), silent, own,
		without("no rank", func(w *search.Weights) { w.Rank = 0 }),
		without("main content only", func(w *search.Weights) { w.Rest = 0 }),
		without("rest like main content", func(w *search.Weights) { w.Rest = w.Body }),
		without("no url", func(w *search.Weights) { w.URL = 0 }),
		without("no title weight", func(w *search.Weights) { w.Title, w.TitleMatch = w.Body, 0 }),
		without("no title match", func(w *search.Weights) { w.TitleMatch = 0 }),
		without("no anchor match", func(w *search.Weights) { w.AnchorMatch = 0 }),
		without("no words as typed", func(w *search.Weights) { w.Typed = 0 }),
	}
	list = append(list, folded)
	if b.o.PerHost > 0 {
		list = append(list, hosts)
	}
	return list
}

// servedVariants are run alternately on files and server.
func (b *bench) servedVariants(whole ...variant) (list []variant) {
	for _, v := range whole {
		files, server := v, v
		files.index, files.name = record(b.whole), v.name+", index files"
		server.index = record(b.server)
		list = append(list, server, files)
	}
	return list
}

// report asks all queries in all variants.
func (b *bench) report(ctx context.Context) (list []KindResult, err error) {
	for _, k := range b.kinds {
		res := KindResult{Kind: k.name, What: k.what, Population: k.population, Queries: len(k.items)}
		if len(k.items) > 0 {
			if err := b.askAll(ctx, k.items, &res); err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
		}
		list = append(list, res)
	}
	return list, nil
}

// askAll asks for items in all variants.
func (b *bench) askAll(ctx context.Context, items []knownItem, res *KindResult) error {
	variants, sent := b.variants(), b.server.requests()
	for i, v := range variants {
		s, err := ask(ctx, items, v)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		if s.Variant = v.name; i > 0 {
			s.Missed = nil
		}
		res.Variants = append(res.Variants, s)
		if b.server != nil && i == 1 {
			res.Agreement = compared(v.index.(*answers), variants[0].index.(*answers), b.server.requests()-sent)
		}
	}
	return nil
}

// ask asks for items, several at a time.
func ask(ctx context.Context, items []knownItem, v variant) (VariantResult, error) {
	positions := make([]int, len(items))
	first := make([]page.URL, len(items))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range items {
		item := &items[i]
		g.Go(func() error {
			res, err := v.index.Search(gctx, item.query, v.opts)
			if err != nil {
				return fmt.Errorf("%q: %w", item.query, err)
			}
			positions[i] = slices.IndexFunc(res.Hits, func(h search.Hit) bool { return h.URL == item.want }) + 1
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
			s.Missed = append(s.Missed, Miss{Query: items[i].query, Want: string(items[i].want), Got: string(first[i]), Position: p})
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
