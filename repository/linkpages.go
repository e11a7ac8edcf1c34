package repository

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"indexer/export"
	"indexer/observers"
	"indexer/page"
	"indexer/schema"
)

// PageLinks are the links between a document and one other page, for people: they ask
// which pages link to it, and a page that links to it with three anchors is one page.
// Programs are told each link by itself (semantics.md section 5).
type PageLinks struct {
	URL     page.URL `json:"url"`
	Anchors []string `json:"anchors"` // each once, in byte order; links without text have none

	links int // of an entry of outPages
}

// anchorsOf makes the anchors of a PageLinks.
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

// outPages groups links by their target. Links come by target.
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

// inPages groups inlinks by their source, in the order in which the sources come first.
// It keeps the pages that a window shows, and of others only a digest, to count them:
// URLs and anchors may be long.
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

// LinkTotals are how many pages link to the URL's cluster, and by how many links. Counting
// reads all of them, unless they were all visited.
func (i *Inspected) LinkTotals() (pages, links int, err error) {
	if i.inPages < 0 || i.inlinks < 0 {
		if i.inPages, i.inlinks, err = i.read.cluster.countPages(); err != nil {
			i.inPages, i.inlinks = -1, -1
			return 0, 0, fmt.Errorf("count the inlinks of %s: %w", i.URL, err)
		}
	}
	return i.inPages, i.inlinks, nil
}

// OutPagesTotal is how many pages the page links to.
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

// EachInPage visits the pages that link to the URL's cluster: by the first member that
// each links to, then in the order of rows. It has no list of them in memory: what a page
// says of the other members is looked up where its first link comes.
func (i *Inspected) EachInPage(fn func(PageLinks) error) error {
	list := listed{of: i, end: &i.end.inlinks}
	from := i.from.inlinks
	return list.ended(i.read.cluster.eachLinkRow(from.after, func(l *linkRow) error {
		if l.row == from.after && from.n >= len(l.anchors) {
			return nil
		}
		p, first, err := i.read.cluster.inPage(l)
		if err != nil || !first {
			return err
		}
		err = list.show(l.row, func() error { return fn(p) })
		if err == nil {
			list.end.n = len(l.anchors) // the same cursor leads on through single links
		}
		return err
	}))
}

// inPage is the page of a row, with its links to all members. first is whether the row is
// the one of it that comes first. The links of a page are a cell of its own, so that the
// rows that there may be are known; those that are there decide.
func (c *cluster) inPage(l *linkRow) (p PageLinks, first bool, err error) {
	p.URL, err = l.source()
	anchors := l.anchors
	if err == nil && c.Count > 1 {
		var others []schema.TargetLinks
		if others, err = observers.LinksOf(c.ctx, c.reading.cell(), p.URL); err != nil {
			return p, false, err
		}
		for _, other := range others {
			more, err := c.anchorsFrom(p.URL, other.Target, l.target)
			if err != nil || len(more) > 0 && other.Target < l.target {
				return p, false, err
			}
			anchors = append(anchors, more...)
		}
	}
	p.Anchors = anchorsOf(anchors)
	return p, true, err
}

// anchorsFrom are those of the links of a page to a URL, if that is a member other than
// one; none if it is not.
func (c *cluster) anchorsFrom(source, target, but page.URL) ([]string, error) {
	if target == but {
		return nil, nil
	}
	row := schema.URLRow(target)
	if within, err := c.holds(row); err != nil || !within {
		return nil, err
	}
	v, err := c.reading.cell().Get(c.ctx, schema.PairRow(target, source), schema.Anchors)
	if err != nil || !v.Exists {
		return nil, err
	}
	return schema.DecodeAnchors(v.Data)
}

// countPages counts the pages that link to the cluster, and their links. The pages of a
// cluster with several members are sorted, outside of memory: one may link to many.
func (c *cluster) countPages() (pages, links int, err error) {
	several := c.Count > 1
	sources := export.NewSorter(c.scratch, memberMemory)
	defer func() { err = errors.Join(err, sources.Close()) }()
	err = c.eachLinkRow("", func(l *linkRow) error {
		links += len(l.anchors)
		if !several {
			pages++
			return nil
		}
		return sources.Add([]byte(schema.PairSource(l.row)))
	})
	if err != nil || !several {
		return pages, links, err
	}
	last := ""
	err = sources.Sorted(func(row []byte) error {
		if string(row) != last {
			pages, last = pages+1, string(row)
		}
		return nil
	})
	return pages, links, err
}
