package observers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"indexer/page"
	"indexer/schema"
	"indexer/verify/batch"
)

// graph is a small web of nothing but states.
type graph struct {
	urls   []page.URL
	states map[page.URL]schema.URLState
	walks  map[page.URL]schema.StoredChain
}

func nodeURL(i int) page.URL { return page.MustParseURL(fmt.Sprintf("https://g.example/%d", i)) }

// randomGraph favours what is hard: chains about as long as the bound, loops of
// pages and redirects, self-redirects, noindex on the way, targets that are not
// there.
func randomGraph(random *rand.Rand) *graph {
	g := &graph{states: make(map[page.URL]schema.URLState), walks: make(map[page.URL]schema.StoredChain)}
	n := 1 + random.IntN(16)
	redirects, chained := random.IntN(101), random.IntN(101)
	for i := range n {
		g.urls = append(g.urls, nodeURL(i))
		g.states[nodeURL(i)] = randomState(random, i, n, redirects, chained)
	}
	return g
}

// randomState leads node i of n to the next one in chained of 100 cases, else
// anywhere, once beyond the end.
func randomState(random *rand.Rand, i, n, redirects, chained int) schema.URLState {
	target := nodeURL(random.IntN(n + 1))
	if random.IntN(100) < chained {
		target = nodeURL(i + 1)
	}
	s := schema.URLState{Outcome: page.Page, NoIndex: random.IntN(12) == 0}
	switch k := random.IntN(100); {
	case k < redirects:
		s.Outcome, s.Target = page.Redirect, target
		if random.IntN(15) == 0 {
			s.Target = ""
		}
	case k > 95:
		return schema.URLState{Outcome: []page.Outcome{page.Gone, page.Other}[random.IntN(2)]}
	default:
		s.Key[0] = byte(1 + random.IntN(3))
		if target != nodeURL(i) && random.IntN(3) > 0 {
			s.Target = target
		}
	}
	return s
}

// update is the cluster observer on one URL; it reports a change.
func (g *graph) update(u page.URL) bool {
	s, known := g.states[u]
	if !known {
		return false
	}
	var ahead schema.StoredChain
	if s.Target != "" && s.Target != u {
		ahead = g.walks[s.Target]
	}
	now := extend(u, s, ahead)
	if slices.Equal(now, g.walks[u]) {
		return false
	}
	g.walks[u] = now
	return true
}

// settle updates URLs in random order, as spread does: whoever has changed wakes
// those that lead to it. dirty are the URLs to begin with.
func (g *graph) settle(t *testing.T, random *rand.Rand, dirty []page.URL) {
	t.Helper()
	for steps := 0; len(dirty) > 0; steps++ {
		if steps > 100_000 {
			t.Fatal("the walks do not settle")
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

// batch is what the whole web means.
func (g *graph) batch() *batch.Repository {
	b := batch.New()
	for u, s := range g.states {
		b.AddDecided(u, page.Document{Outcome: s.Outcome, Target: s.Target, NoIndex: s.NoIndex, Key: s.Key}, time.Unix(1, 0))
	}
	return b.Finish(nil)
}

// wantWalk follows the batch's leads, as schema.StoredChain is defined.
func (g *graph) wantWalk(r *batch.Repository, u page.URL) schema.StoredChain {
	var walk schema.StoredChain
	for seen := make(map[page.URL]bool); ; {
		s := g.states[u]
		if s.Outcome != page.Page && s.Outcome != page.Redirect {
			if len(walk) > 0 {
				walk = append(walk, schema.Hop{URL: u})
			}
			return walk
		}
		walk = append(walk, schema.Hop{URL: u, Outcome: s.Outcome, NoIndex: s.NoIndex, Key: s.Key})
		lead := r.URL(u).Lead
		if seen[u] || len(walk) == schema.MaxChain || s.Outcome == page.Page && lead == "" {
			return walk
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
		way := WayOfChain(g.walks[u])
		if way.Terminal != want.Terminal || way.LeadsTo != want.Lead {
			t.Errorf("%s: terminal %q, leads to %q; batch: terminal %q, leads to %q\nwalk %v",
				u, way.Terminal, way.LeadsTo, want.Terminal, want.Lead, g.walks[u])
		}
		if w := g.wantWalk(r, u); !slices.Equal(w, g.walks[u]) {
			t.Errorf("%s: walk\n%v\nwant\n%v", u, g.walks[u], w)
		}
	}
}

// TestWalkFixedPoint: whatever the order of updates, also after changes of some
// states, the walks become those of the batch.
func TestWalkFixedPoint(t *testing.T) {
	seeds := uint64(30_000)
	if testing.Short() {
		seeds = 4_000
	}
	for seed := range seeds {
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
			t.Fatalf("seed %d: states %v", seed, g.states)
		}
	}
}

// TestWalkBound: chains of 9 to 13 hops, of redirects or of canonical links, to a
// page, to nothing, or back to their beginning, somewhere inside, or the end.
func TestWalkBound(t *testing.T) {
	for hops := 9; hops <= 13; hops++ {
		for _, outcome := range []page.Outcome{page.Page, page.Redirect} {
			for end := -2; end <= hops; end++ {
				g := &graph{states: make(map[page.URL]schema.URLState), walks: make(map[page.URL]schema.StoredChain)}
				for i := range hops + 1 {
					g.urls = append(g.urls, nodeURL(i))
					g.states[nodeURL(i)] = schema.URLState{Outcome: outcome, Target: nodeURL(i + 1), Key: page.ContentKey{byte(i + 1)}}
				}
				last := schema.URLState{Outcome: page.Page, Key: page.ContentKey{99}}
				switch {
				case end == -1:
					last = schema.URLState{Outcome: page.Gone}
				case end == hops: // the last one leads to itself
					last = schema.URLState{Outcome: page.Redirect, Target: nodeURL(hops)}
				case end >= 0:
					last.Target = nodeURL(end)
				}
				g.states[nodeURL(hops)] = last
				for _, dirty := range [][]page.URL{g.urls, reversed(g.urls)} {
					clear(g.walks)
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
