package batch

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/page"
)

// Finish computes the repository from everything that was added, with the given ranks; nil
// means that of a URL without inlinks everywhere. The Builder must not be used afterwards.
func (b *Builder) Finish(ranks func(page.URL) float64) *Repository {
	r := b.known()
	for _, u := range r.urls {
		if u.Rank = rank.Teleport; ranks != nil {
			u.Rank = ranks(u.URL)
		}
	}
	r.cluster()
	return r
}

// Solve computes the repository from everything that was added, with the ranks that
// follow from the links. The Builder must not be used afterwards.
func (b *Builder) Solve(ctx context.Context) (*Repository, error) {
	r := b.known()
	if err := r.solve(ctx); err != nil {
		return nil, err
	}
	r.cluster()
	return r, nil
}

// known makes a repository of the known URLs.
func (b *Builder) known() *Repository {
	r := &Repository{urls: make(map[page.URL]*URL, 2*len(b.urls)), clusters: make(map[page.ContentKey]*Cluster)}
	for u, d := range b.urls {
		r.urls[u] = &URL{URL: u, Document: d.doc, FetchedAt: d.fetchedAt()}
	}
	b.urls = nil
	r.addUnfetched()
	return r
}

// cluster finds terminals, clusters and canonical URLs. All ranks must be set.
func (r *Repository) cluster() {
	for _, u := range r.urls {
		u.Lead = r.lead(u)
	}
	for u := range r.URLs() {
		u.Terminal = r.terminal(u)
		r.join(u)
	}
	for _, c := range r.clusters {
		c.Canonical = r.canonical(c)
	}
	r.invertLinks()
}

// addUnfetched makes nodes of URLs that were only linked to or redirected to.
func (r *Repository) addUnfetched() {
	var targets []page.URL
	for _, u := range r.urls {
		targets = append(targets, u.Edges()...)
	}
	for _, t := range targets {
		if r.urls[t] == nil {
			r.urls[t] = &URL{URL: t}
		}
	}
}

// Edges returns the URLs to which u passes rank (semantics.md section 6): the distinct
// targets of a page's counting links, or a redirect's target.
func (u *URL) Edges() []page.URL {
	switch u.Document.Outcome {
	case page.Redirect:
		if u.Document.Target != "" {
			return []page.URL{u.Document.Target}
		}
	case page.Page:
		targets := make([]page.URL, 0, len(u.Document.Links))
		for _, l := range u.Document.Links {
			targets = append(targets, l.Target)
		}
		slices.Sort(targets)
		return slices.Compact(targets)
	}
	return nil
}

// join makes u, whose terminal is set, a member of the terminal's cluster. It is
// called in byte order of URLs, so members are sorted.
func (r *Repository) join(u *URL) {
	if u.Terminal == "" {
		return
	}
	key := r.urls[u.Terminal].Document.Key
	c := r.clusters[key]
	if c == nil {
		c = &Cluster{Key: key}
		r.clusters[key] = c
	}
	u.Cluster = c
	c.Members = append(c.Members, u.URL)
	c.Rank += u.Rank
}

// invertLinks gives each cluster the links that point at it from outside
// (semantics.md section 5).
func (r *Repository) invertLinks() {
	for source := range r.URLs() {
		for _, l := range source.Document.Links {
			to := r.urls[l.Target].Cluster
			if to != nil && to != source.Cluster {
				to.Inlinks = append(to.Inlinks, Inlink{source.URL, l.Target, l.Anchor})
			}
		}
	}
	for _, c := range r.clusters {
		slices.SortFunc(c.Inlinks, compareInlinks)
	}
}
