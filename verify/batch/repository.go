package batch

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
)

// Repository is the meaning of a set of fetches. It is immutable.
type Repository struct {
	urls     map[page.URL]*URL
	clusters map[page.ContentKey]*Cluster
}

// URL holds the facts about one URL that was fetched, linked to or redirected to.
type URL struct {
	URL page.URL
	// Document is the document of the deciding fetch; its outcome is Unfetched for a
	// URL that was never fetched. Only Document holds the title and the text.
	Document page.Document
	// FetchedAt is the time to show for the deciding fetch, zero if there is none.
	FetchedAt time.Time
	// Lead is the URL to which it leads, or "" if there is none: a redirect's target, or
	// a page's canonical target if that counts.
	Lead page.URL
	// Terminal is the terminal of the URL, or "" if it has none.
	Terminal page.URL
	// Cluster is the cluster of the URL, or nil if it has no terminal.
	Cluster *Cluster
	// Rank is the rank that was given to Finish, or that Solve computed.
	Rank float64
}

// Canonical returns the URL that the index shows for u, or "" if it shows none.
func (u *URL) Canonical() page.URL {
	if u.Cluster == nil {
		return ""
	}
	return u.Cluster.Canonical
}

// Eligible reports whether u can be the canonical URL of its cluster: it is its own terminal and
// not noindex.
func (u *URL) Eligible() bool { return u.Terminal == u.URL && !u.Document.NoIndex }

// Cluster is a set of URLs with the same content.
type Cluster struct {
	Key     page.ContentKey
	Members []page.URL // sorted
	// Canonical is the member that the index shows, or "" if the cluster is not in the
	// index.
	Canonical page.URL
	// Inlinks are the counting links from outside, sorted by source, target and
	// anchor, without duplicates.
	Inlinks []Inlink
	Rank    float64 // sum over the members
}

// Inlink is a counting link as seen from its target.
type Inlink struct {
	Source, Target page.URL
	Anchor         string
}

func compareInlinks(a, b Inlink) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Anchor, b.Anchor))
}

// URL returns the facts about u, or nil if u is unknown.
func (r *Repository) URL(u page.URL) *URL { return r.urls[u] }

// Cluster returns the cluster with that key, or nil if there is none.
func (r *Repository) Cluster(key page.ContentKey) *Cluster { return r.clusters[key] }

// URLs yields all known URLs in byte order.
func (r *Repository) URLs() iter.Seq[*URL] {
	return func(yield func(*URL) bool) {
		for _, u := range slices.Sorted(maps.Keys(r.urls)) {
			if !yield(r.urls[u]) {
				return
			}
		}
	}
}

// Index yields the clusters that are in the index, in byte order of their
// canonical URLs. The title, text and language of each are those of the document
// at its canonical URL.
func (r *Repository) Index() iter.Seq[*Cluster] {
	return func(yield func(*Cluster) bool) {
		var shown []*Cluster
		for _, c := range r.clusters {
			if c.Canonical != "" {
				shown = append(shown, c)
			}
		}
		slices.SortFunc(shown, func(a, b *Cluster) int { return cmp.Compare(a.Canonical, b.Canonical) })
		for _, c := range shown {
			if !yield(c) {
				return
			}
		}
	}
}
