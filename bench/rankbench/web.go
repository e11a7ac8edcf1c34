package rankbench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/page"
)

// sitePages is how many URLs a site of the generated web has.
const sitePages = 100

// web is a generated web: URLs are numbers, sites are sitePages of them in a row. Three
// of four links stay within the site. The others go to all URLs, with a power law: the
// URL at place i of n is linked to in proportion to i^(-2/3), so that the number of
// URLs with more than k inlinks falls as k^(-3/2), and the most popular one grows with the size.
type web struct {
	random   *rand.Rand
	degree   int
	deadEnds float64
	links    [][]uint32 // of each URL, without doubles
}

// newWeb makes a web of n URLs with up to degree links each; a share of them, deadEnds,
// was never fetched and so has none. It is a function of its arguments.
func newWeb(n, degree int, deadEnds float64, seed uint64) *web {
	w := &web{random: rand.New(rand.NewPCG(seed, uint64(n))), degree: degree, deadEnds: deadEnds, links: make([][]uint32, n)}
	for u := range w.links {
		if w.random.Float64() >= deadEnds {
			w.links[u] = w.fresh(uint32(u), make([]uint32, 0, degree))
		}
	}
	return w
}

// fresh adds new links of a URL to those it keeps, until it has its number.
func (w *web) fresh(u uint32, links []uint32) []uint32 {
	for tries := 0; len(links) < w.degree && tries < 10*w.degree; tries++ {
		if t := w.target(u); t != u && !slices.Contains(links, t) {
			links = append(links, t)
		}
	}
	return links
}

func (w *web) target(u uint32) uint32 {
	n := len(w.links)
	if w.random.IntN(4) > 0 {
		first := int(u) / sitePages * sitePages
		return uint32(first + w.random.IntN(min(sitePages, n-first)))
	}
	return uint32(min(n-1, int(float64(n)*math.Pow(w.random.Float64(), 3))))
}

// change gives a page other links: all, or only the first of them.
func (w *web) change(u uint32, all bool) {
	var kept []uint32
	if !all {
		kept = append(kept, w.links[u][1:]...)
	}
	w.links[u] = w.fresh(u, kept)
}

// pages are n different URLs that have links.
func (w *web) pages(n int) []uint32 {
	list := make([]uint32, 0, n)
	seen := make(map[uint32]bool, n)
	for tries := 0; len(list) < n && tries < 100*n+100*len(w.links); tries++ {
		u := uint32(w.random.IntN(len(w.links)))
		if len(w.links[u]) > 0 && !seen[u] {
			seen[u] = true
			list = append(list, u)
		}
	}
	return list
}

func (w *web) graph() (*rank.Graph, error) {
	return rank.Build(len(w.links), func(yield func(from, to uint32) bool) {
		for u, links := range w.links {
			for _, t := range links {
				if !yield(uint32(u), t) {
					return
				}
			}
		}
	})
}

// mostInlinks is how many the most popular URL has.
func (w *web) mostInlinks() int {
	in, most := make([]int, len(w.links)), 0
	for _, links := range w.links {
		for _, t := range links {
			in[t]++
			most = max(most, in[t])
		}
	}
	return most
}

func urlOf(u uint32) page.URL {
	return page.URL(fmt.Sprintf("https://s%06d.example/p%02d", u/sitePages, u%sitePages))
}
