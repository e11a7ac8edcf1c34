package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/verify/batch"
)

// graph is a small web of nothing but states.
type graph struct {
	urls   []page.URL
	states map[page.URL]State
	chains map[page.URL]Chain
}

func nodeURL(i int) page.URL { return page.MustParseURL(fmt.Sprintf("https://g.example/%d", i)) }

// randomGraph favours what is hard: chains about as long as the bound, loops of pages and
// redirects, redirects to themselves, noindex on the way, and missing targets.
func randomGraph(random *rand.Rand) *graph {
	g := &graph{states: make(map[page.URL]State), chains: make(map[page.URL]Chain)}
	n := 1 + random.IntN(16)
	redirects, chained := random.IntN(101), random.IntN(101)
	for i := range n {
		g.urls = append(g.urls, nodeURL(i))
		g.states[nodeURL(i)] = randomState(random, i, n, redirects, chained)
	}
	return g
}

// randomState points node i of n to the next node in chained of 100 cases, otherwise to any
// node, or to the one after the last.
func randomState(random *rand.Rand, i, n, redirects, chained int) State {
	target := nodeURL(random.IntN(n + 1))
	if random.IntN(100) < chained {
		target = nodeURL(i + 1)
	}
	s := State{Outcome: page.Page, NoIndex: random.IntN(12) == 0}
	switch k := random.IntN(100); {
	case k < redirects:
		s.Outcome, s.Target = page.Redirect, target
		if random.IntN(15) == 0 {
			s.Target = ""
		}
	case k > 95:
		return State{Outcome: []page.Outcome{page.Gone, page.Other}[random.IntN(2)]}
	default:
		s.Key[0] = byte(1 + random.IntN(3))
		if target != nodeURL(i) && random.IntN(3) > 0 {
			s.Target = target
		}
	}
	return s
}

// update does what the observer "cluster" does with one URL, and reports a change.
func (g *graph) update(u page.URL) bool {
	s, known := g.states[u]
	if !known {
		return false
	}
	var ahead Chain
	if s.Target != "" && s.Target != u {
		ahead = g.chains[s.Target]
	}
	now := Extend(u, s, ahead)
	if slices.Equal(now, g.chains[u]) {
		return false
	}
	g.chains[u] = now
	return true
}

// settle updates URLs in random order. Like the observer spread, it continues with the
// URLs that point to one whose chain has changed. dirty are the URLs to begin with.
func (g *graph) settle(t *testing.T, random *rand.Rand, dirty []page.URL) {
	t.Helper()
	for steps := 0; len(dirty) > 0; steps++ {
		if steps > 100_000 {
			t.Fatal("the chains do not come to rest")
		}
		i := random.IntN(len(dirty))
		u := dirty[i]
		dirty[i] = dirty[len(dirty)-1]
		dirty = dirty[:len(dirty)-1]
		if !g.update(u) {
			continue
		}
		for _, v := range g.urls {
			if g.states[v].Target == u && !slices.Contains(dirty, v) {
				dirty = append(dirty, v)
			}
		}
	}
}

// batch returns what the whole web means.
func (g *graph) batch() *batch.Repository {
	b := batch.New()
	for u, s := range g.states {
		b.AddDecided(u, page.Document{Outcome: s.Outcome, Target: s.Target, NoIndex: s.NoIndex, Key: s.Key}, time.Unix(1, 0))
	}
	return b.Finish(nil)
}

// wantChain follows the pointers of the batch, as Chain is defined.
func (g *graph) wantChain(r *batch.Repository, u page.URL) Chain {
	var chain Chain
	for seen := make(map[page.URL]bool); ; {
		s := g.states[u]
		if s.Outcome != page.Page && s.Outcome != page.Redirect {
			if len(chain) > 0 {
				chain = append(chain, Hop{URL: u})
			}
			return chain
		}
		chain = append(chain, Hop{URL: u, Outcome: s.Outcome, NoIndex: s.NoIndex, Key: s.Key})
		lead := r.URL(u).Lead
		if seen[u] || len(chain) == MaxChain || s.Outcome == page.Page && lead == "" {
			return chain
		}
		seen[u] = true
		u = lead
	}
}

func (g *graph) check(t *testing.T) {
	t.Helper()
	r := g.batch()
	for _, u := range g.urls {
		want := r.URL(u)
		if end, ok := g.chains[u].Terminal(); end.URL != want.Terminal || ok != (want.Terminal != "") {
			t.Errorf("%s: terminal %q, %t, want %q\nchain %v", u, end.URL, ok, want.Terminal, g.chains[u])
		}
		if w := g.wantChain(r, u); !slices.Equal(w, g.chains[u]) {
			t.Errorf("%s: chain\n%v\nwant\n%v", u, g.chains[u], w)
		}
	}
}

// TestChainFixedPoint: whatever the order of updates, even after some states have
// changed, the chains become those of the batch.
func TestChainFixedPoint(t *testing.T) {
	t.Parallel()
	for seed := range seeds(t, 30_000) {
		random := rand.New(rand.NewPCG(seed, 1))
		g := randomGraph(random)
		g.settle(t, random, slices.Clone(g.urls))
		g.check(t)
		for range 3 {
			i := random.IntN(len(g.urls))
			g.states[g.urls[i]] = randomState(random, i, len(g.urls), 40, 60)
			g.settle(t, random, []page.URL{g.urls[i]})
			g.check(t)
		}
		if t.Failed() {
			t.Fatalf("INDEXER_SEED=%d: states %v", seed, g.states)
		}
	}
}

// TestChainBound takes chains of 9 to 13 redirects or canonical links, which end at a page,
// at nothing, or in a loop to each of their URLs.
func TestChainBound(t *testing.T) {
	t.Parallel()
	for hops := 9; hops <= 13; hops++ {
		for _, outcome := range []page.Outcome{page.Page, page.Redirect} {
			for end := -2; end <= hops; end++ {
				g := &graph{states: make(map[page.URL]State), chains: make(map[page.URL]Chain)}
				for i := range hops + 1 {
					g.urls = append(g.urls, nodeURL(i))
					g.states[nodeURL(i)] = State{Outcome: outcome, Target: nodeURL(i + 1), Key: page.ContentKey{byte(i + 1)}}
				}
				last := State{Outcome: page.Page, Key: page.ContentKey{99}}
				switch {
				case end == -1:
					last = State{Outcome: page.Gone}
				case end == hops: // the last one points to itself
					last = State{Outcome: page.Redirect, Target: nodeURL(hops)}
				case end >= 0:
					last.Target = nodeURL(end)
				}
				g.states[nodeURL(hops)] = last
				for _, dirty := range [][]page.URL{g.urls, reversed(g.urls)} {
					clear(g.chains)
					g.settle(t, rand.New(rand.NewPCG(uint64(hops), 2)), slices.Clone(dirty))
					g.check(t)
				}
				if t.Failed() {
					t.Fatalf("%d hops of %s, end %d", hops, outcome, end)
				}
			}
		}
	}
}

func reversed(urls []page.URL) []page.URL {
	r := slices.Clone(urls)
	slices.Reverse(r)
	return r
}
