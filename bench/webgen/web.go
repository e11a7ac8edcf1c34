// Package webgen makes the webs that benchmarks load: generated webs of any size, and
// copies of recorded webs. The same seed gives the same bytes.
package webgen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"strings"
)

// Web is a generated web. Its shape follows 6,710 responses recorded at six
// documentation sites: 73 % pages, 15 % redirects, 6 % errors; a fifth of the pages
// repeats another one, half of them with rel=canonical; the median page has 680 words
// and 32 links.
//
// A URL is a number below Pages, and a response is computed from the seed and that
// number alone. So a web takes no memory beyond its list of hosts, and parts of it can be
// written at the same time. Webs of different seeds have different hosts.
type Web struct {
	Seed  uint64
	Pages int // URLs, each with one response
	Words int // of the median page

	hosts []host
}

// host is a site with the URLs from first on.
type host struct {
	name        string
	first, size int
	language    *language
	declares    bool // its pages name their language
	shop        uint64
}

// DefaultWords is how many words the median page has, without its menu.
const DefaultWords = 550

// New returns a web of pages on the given number of hosts; 0 means one host for a
// thousand pages, but at least three. Sizes of hosts follow a power law.
func New(seed uint64, pages, hosts, words int) *Web {
	if hosts == 0 {
		hosts = max(3, pages/1000)
	}
	hosts = min(hosts, pages)
	w := &Web{Seed: seed, Pages: pages, Words: words}
	sum := 0.0
	for h := range hosts {
		sum += weight(h)
	}
	first := 0
	for h := range hosts {
		left := hosts - h - 1 // hosts that still need a page
		size := int(math.Round(weight(h) / sum * float64(pages)))
		size = min(max(size, 1), pages-first-left)
		if left == 0 {
			size = pages - first
		}
		w.hosts = append(w.hosts, w.newHost(h, first, size))
		first += size
	}
	return w
}

func weight(h int) float64 { return math.Pow(float64(h+1), -0.8) }

func (w *Web) newHost(h, first, size int) host {
	rng := w.rng(h, 'h')
	return host{
		name:     fmt.Sprintf("www.%s%d-%d.example", pseudoWord(rng.IntN(5000)), h, w.Seed),
		first:    first,
		size:     size,
		language: drawLanguage(rng),
		declares: rng.Float64() < 0.6,
		shop:     rng.Uint64(),
	}
}

// rng is the source of what is drawn for one thing, such as the URL of a page.
func (w *Web) rng(i int, thing byte) *rand.Rand {
	return rand.New(rand.NewPCG(w.Seed, uint64(i)<<8|uint64(thing)))
}

// hostOf finds the host of a URL.
func (w *Web) hostOf(i int) *host {
	h := sort.Search(len(w.hosts), func(h int) bool { return w.hosts[h].first > i })
	return &w.hosts[h-1]
}

// kind says what a URL answers.
type kind uint8

const (
	kindPage      kind = iota
	kindCopy           // the text of another page
	kindAlias          // the same, and names the other page as canonical
	kindMirror         // the text of a page of another host
	kindMoved          // a permanent redirect
	kindElsewhere      // a temporary redirect
	kindMissing        // status 404
)

// kindOf draws what a URL answers. The first page of a host is a page of its own, so
// that every search downwards for a page ends.
func (w *Web) kindOf(i int) kind {
	if w.hostOf(i).first == i {
		return kindPage
	}
	switch x := w.rng(i, 'k').Float64(); {
	case x < 0.12:
		return kindMoved
	case x < 0.15:
		return kindElsewhere
	case x < 0.21:
		return kindMissing
	case x < 0.28:
		return kindAlias
	case x < 0.34:
		return kindCopy
	case x < 0.36:
		return kindMirror
	}
	return kindPage
}

// original is the page that a copy or a redirect of a URL leads to: mostly one of the
// same host, always one with a smaller number, so that no redirect leads in a circle.
// Redirects may lead to redirects.
func (w *Web) original(i int, k kind) int {
	rng := w.rng(i, 'o')
	if k == kindMirror {
		return w.PageAtOrBefore(w.popular(rng))
	}
	h := w.hostOf(i)
	j := h.first + rng.IntN(i-h.first)
	if (k == kindMoved || k == kindElsewhere) && rng.Float64() < 0.1 {
		return j
	}
	return w.PageAtOrBefore(j)
}

// PageAtOrBefore returns the last number, up to i, of a URL that answers with a page of its own.
func (w *Web) PageAtOrBefore(i int) int {
	for w.kindOf(i) != kindPage {
		i--
	}
	return i
}

// popular draws a URL of any host: large hosts, and the first pages of a host, are
// drawn much more often than others.
func (w *Web) popular(rng *rand.Rand) int {
	u := rng.Float64()
	h := &w.hosts[int(u*u*float64(len(w.hosts)))]
	return h.popular(rng)
}

func (h *host) popular(rng *rand.Rand) int {
	u := rng.Float64()
	return h.first + int(u*u*u*float64(h.size))
}

// sectionSize is how many URLs of a host share a directory.
const sectionSize = 40

// URL is the URL with a number.
func (w *Web) URL(i int) string { return "https://" + w.hostOf(i).name + w.path(i) }

func (w *Web) path(i int) string {
	h := w.hostOf(i)
	n := i - h.first
	if n == 0 {
		return "/"
	}
	section := n / sectionSize
	return fmt.Sprintf("/%s%d/%s-%d.html", pseudoWord(int((h.shop+uint64(section))%5000)), section, strings.ReplaceAll(w.title(i), " ", "-"), n)
}

// title is that of a page, and the anchor of links to it.
func (w *Web) title(i int) string {
	rng := w.rng(i, 't')
	words := make([]string, 2+rng.IntN(4))
	for n := range words {
		words[n] = pseudoWord(w.topic(i) + int(rng.ExpFloat64()*300))
	}
	return strings.Join(words, " ")
}

// topic is the first of the words that a page's section prefers.
func (w *Web) topic(i int) int {
	h := w.hostOf(i)
	return int((h.shop + uint64((i-h.first)/sectionSize)*7919) % 100_000)
}
