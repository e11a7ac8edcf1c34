package batch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/webindexer/indexer/page"
)

// Anchor is a text of inlinks.
type Anchor struct {
	Text   string
	Count  int // inlinks with this text
	Others int // of these, links from other sites
}

// Anchors returns the anchors of the inlinks, without empty ones: the most frequent first, and
// equally frequent ones in byte order.
func (c *Cluster) Anchors() []Anchor {
	count := make(map[string]*Anchor)
	for _, l := range c.Inlinks {
		if l.Anchor == "" {
			continue
		}
		a := count[l.Anchor]
		if a == nil {
			a = &Anchor{Text: l.Anchor}
			count[l.Anchor] = a
		}
		a.Count++
		if siteOf(l.Source) != siteOf(l.Target) {
			a.Others++
		}
	}
	list := make([]Anchor, 0, len(count))
	for _, a := range count {
		list = append(list, *a)
	}
	slices.SortFunc(list, func(a, b Anchor) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return list
}

// siteOf returns the site of a URL: its host, without www.
func siteOf(u page.URL) string { return strings.TrimPrefix(u.Host(), "www.") }
