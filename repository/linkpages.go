package repository

import (
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
type inPages struct {
	list []PageLinks
	at   map[page.URL]int
}

func (p *inPages) add(l observers.Inlink) {
	at, known := p.at[l.Source]
	if !known {
		if p.at == nil {
			p.at = make(map[page.URL]int)
		}
		at = len(p.list)
		p.at[l.Source] = at
		p.list = append(p.list, PageLinks{URL: l.Source})
	}
	p.list[at].Anchors = append(p.list[at].Anchors, l.Anchor)
}

// window is the part of the list that a window shows.
func (p *inPages) window(w Window) []PageLinks {
	list := cut(p.list, w)
	for i := range list {
		list[i].Anchors = anchorsOf(list[i].Anchors)
	}
	return list
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
