package inspect

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
)

// PageLinks are the links between a document and one other page. People ask which pages
// link to a document; for them, a page that links to it with three anchors is one page.
// Programs get each link separately (semantics.md section 5).
type PageLinks struct {
	URL     page.URL `json:"url"`
	Anchors []string `json:"anchors"` // each once, in byte order; links without text have none

	links int // number of links, in results of outPages
}

// anchorsOf returns the distinct anchors, in byte order, without the empty one.
func anchorsOf(all []string) []string {
	list := make([]string, 0, len(all))
	for _, a := range all {
		if a != "" {
			list = append(list, a)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// outPages groups links, which are sorted by target, by their target.
func outPages(links []Outlink) []PageLinks {
	list := []PageLinks{}
	for from := 0; from < len(links); {
		to := from
		var anchors []string
		for ; to < len(links) && links[to].URL == links[from].URL; to++ {
			anchors = append(anchors, links[to].Anchor)
		}
		list = append(list, PageLinks{links[from].URL, anchorsOf(anchors), to - from})
		from = to
	}
	return list
}

// inPages groups inlinks by their source, in the order in which sources first appear. It
// keeps the pages in a window, and only a digest of every other page, to count it: URLs
// and anchors may be long.
type inPages struct {
	window Window
	shown  []PageLinks
	at     map[[16]byte]int // place of each source, by the beginning of its SHA-256
}

func (p *inPages) add(l observers.Inlink) {
	sum := sha256.Sum256([]byte(l.Source))
	key := [16]byte(sum[:])
	at, known := p.at[key]
	if !known {
		if p.at == nil {
			p.at = make(map[[16]byte]int)
		}
		at = len(p.at)
		p.at[key] = at
		if p.window.shows(at) {
			p.shown = append(p.shown, PageLinks{URL: l.Source})
		}
	}
	if p.window.shows(at) {
		page := &p.shown[at-max(p.window.Offset, 0)]
		page.Anchors = append(page.Anchors, l.Anchor)
	}
}

// list returns the pages in the window.
func (p *inPages) list() []PageLinks {
	for i := range p.shown {
		p.shown[i].Anchors = anchorsOf(p.shown[i].Anchors)
	}
	return append([]PageLinks{}, p.shown...)
}

// LinkTotals counts the pages that link to the URL's cluster, and their links. It reads all
// of them, unless a visit has already done so.
func (i *Inspected) LinkTotals() (pages, links int, err error) {
	if i.inPages < 0 || i.inlinks < 0 {
		if i.inPages, i.inlinks, err = i.read.cluster.CountSources(); err != nil {
			i.inPages, i.inlinks = -1, -1
			return 0, 0, fmt.Errorf("count the inlinks of %s: %w", i.URL, err)
		}
	}
	return i.inPages, i.inlinks, nil
}

// OutPagesTotal returns how many pages the page links to.
func (i *Inspected) OutPagesTotal() int { return len(outPages(i.read.outlinks)) }

// EachOutPage visits the pages that the page links to, by URL.
func (i *Inspected) EachOutPage(fn func(PageLinks) error) error {
	list := listed{of: i, end: &i.end.outlinks}
	for _, p := range outPages(i.read.outlinks) {
		if from := i.from.outlinks; string(p.URL) < from.after || string(p.URL) == from.after && from.n >= p.links {
			continue
		}
		if err := list.show(string(p.URL), func() error { return fn(p) }); err != nil {
			return list.ended(err)
		}
		list.end.n = p.links
	}
	return nil
}

// EachInPage visits the pages that link to the URL's cluster, by the first member that each
// links to, then in the order of rows. It keeps no list of them in memory: at the first
// link of a page, it looks up the page's links to other members.
func (i *Inspected) EachInPage(fn func(PageLinks) error) error {
	list := listed{of: i, end: &i.end.inlinks}
	from := i.from.inlinks
	return list.ended(i.read.cluster.EachLinkRow(from.after, func(l *snapshot.LinkRow) error {
		if l.Row == from.after && from.n >= len(l.Anchors) {
			return nil
		}
		source, err := l.Source()
		if err != nil {
			return err
		}
		anchors, first, err := i.read.cluster.SourceAnchors(l)
		if err != nil || !first {
			return err
		}
		p := PageLinks{URL: source, Anchors: anchorsOf(anchors)}
		err = list.show(l.Row, func() error { return fn(p) })
		if err == nil {
			list.end.n = len(l.Anchors) // a cursor of pages also continues single links
		}
		return err
	}))
}
