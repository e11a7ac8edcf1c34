package batch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/webindexer/indexer/page"
)

// ShownMembers returns the members that the document of a cluster lists, in byte order: the first
// ones in the order of preference, up to a limit, and always the canonical URL, in the place of the
// last one if need be.
func (r *Repository) ShownMembers(c *Cluster, limit int) []page.URL {
	if len(c.Members) <= limit {
		return c.Members
	}
	shown := slices.Clone(c.Members)
	slices.SortFunc(shown, func(a, b page.URL) int { return comparePreference(r.urls[a], r.urls[b]) })
	shown = shown[:limit]
	if !slices.Contains(shown, c.Canonical) {
		shown[limit-1] = c.Canonical
	}
	slices.Sort(shown)
	return shown
}

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
