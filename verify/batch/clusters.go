package batch

import (
	"cmp"
	"slices"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/page"
)

// maxHops bounds the number of URLs on the way to a terminal.
const maxHops = 10

// lead returns the URL to which u leads (semantics.md section 4): the target of a
// redirect, whatever its outcome; or the canonical target of a page, if it was itself
// fetched as a page or redirect and does not say noindex.
func (r *Repository) lead(u *URL) page.URL {
	target := u.Document.Target
	switch u.Document.Outcome {
	case page.Redirect:
		return target
	case page.Page:
		if t := r.urls[target]; t != nil && t.walkable() && !t.Document.NoIndex {
			return target
		}
	}
	return ""
}

// walkable reports whether a URL can be on the way to a terminal.
func (u *URL) walkable() bool {
	return u.Document.Outcome == page.Page || u.Document.Outcome == page.Redirect
}

// terminal follows u to its terminal and returns it, or "" if there is none:
//
//	way: u = w0, w1, ... wn, each leading to the next, all different
//	wn is a page that leads nowhere            -> wn
//	wn leads to neither a page nor a redirect  -> the last page of the way, or none
//	wn leads to wi, no page in wi..wn          -> the last page of the way, or none
//	wn leads to wi                             -> the first page in wi..wn
//	n is over 10                               -> u if it is a page, or none
//
// The last URL shows how a way ends. So a way of exactly 10 hops whose
// last URL is a dead end, or leads back into the way, is not too long.
func (r *Repository) terminal(u *URL) page.URL {
	if !u.walkable() {
		return ""
	}
	way := []*URL{u}
	for len(way)-1 <= maxHops {
		last := way[len(way)-1]
		if last.Document.Outcome == page.Page && last.Lead == "" {
			return last.URL
		}
		next := r.urls[last.Lead]
		if next == nil || !next.walkable() {
			return lastPage(way)
		}
		if i := slices.Index(way, next); i >= 0 {
			if first := firstPage(way[i:]); first != "" {
				return first
			}
			return lastPage(way)
		}
		way = append(way, next)
	}
	return firstPage(way[:1])
}

func firstPage(way []*URL) page.URL {
	for _, u := range way {
		if u.Document.Outcome == page.Page {
			return u.URL
		}
	}
	return ""
}

func lastPage(way []*URL) page.URL {
	for _, u := range slices.Backward(way) {
		if u.Document.Outcome == page.Page {
			return u.URL
		}
	}
	return ""
}

// canonical chooses the URL that the index shows for c: among the members that are their own
// terminal and not noindex, those with about the highest rank; among these, the first in the order
// of preference.
func (r *Repository) canonical(c *Cluster) page.URL {
	var candidates []*URL
	highest := 0.0
	for _, m := range c.Members {
		if u := r.urls[m]; u.Eligible() {
			candidates = append(candidates, u)
			highest = max(highest, u.Rank)
		}
	}
	best := new(URL)
	for _, u := range candidates {
		if rank.Qualifies(u.Rank, highest) && (best.URL == "" || comparePreference(u, best) < 0) {
			best = u
		}
	}
	return best.URL
}

// comparePreference puts members in the order of preference: eligible ones before the others, and
// of these https before http; then the shortest, then the first in byte order.
func comparePreference(a, b *URL) int {
	return cmp.Or(cmp.Compare(a.class(), b.class()), cmp.Compare(len(a.URL), len(b.URL)), cmp.Compare(a.URL, b.URL))
}

// class returns the first criterion of that order.
func (u *URL) class() int {
	switch {
	case !u.Eligible():
		return 2
	case u.URL.Scheme() != "https":
		return 1
	}
	return 0
}
