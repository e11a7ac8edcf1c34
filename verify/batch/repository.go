package batch

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"indexer/page"
)

// Repository is what a set of fetches means. It does not change.
type Repository struct {
	urls     map[page.URL]*URL
	clusters map[page.ContentKey]*Cluster
}

// URL is what is known of one URL: of one fetched, linked to, or led to.
type URL struct {
	URL page.URL
	// Document is what the deciding fetch says; its outcome is Unfetched for a
	// URL that was never fetched. The title and text are held here only.
	Document page.Document
	// FetchedAt is the time to show for the deciding fetch, zero if there is none.
	FetchedAt time.Time
	// Lead is where the URL leads, "" if nowhere: a redirect's target, or a
	// page's canonical target where that is in force.
	Lead page.URL
	// Terminal is the page the URL stands for, "" if it has none.
	Terminal page.URL
	// Cluster is the cluster the URL is a member of, nil without a terminal.
	Cluster *Cluster
	// Rank is what Finish was given for the URL, or Solve found.
	Rank float64
}

// Canonical is the URL the index shows for u, "" if it shows none.
func (u *URL) Canonical() page.URL {
	if u.Cluster == nil {
		return ""
	}
	return u.Cluster.Canonical
}

// Cluster is a set of URLs with the same content.
type Cluster struct {
	Key     page.ContentKey
	Members []page.URL // sorted
	// Canonical is the member that the index shows, "" if the cluster is not in
	// the index.
	Canonical page.URL
	// Inlinks are the counting links from outside, sorted by source, target and
	// anchor, none twice.
	Inlinks []Inlink
	Rank    float64 // sum over the members
}

// Inlink is a counting link as seen from the page it points at.
type Inlink struct {
	Source, Target page.URL
	Anchor         string
}

func compareInlinks(a, b Inlink) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Anchor, b.Anchor))
}

// URL gives what is known of u, nil if nothing is.
func (r *Repository) URL(u page.URL) *URL { return r.urls[u] }

// Cluster gives the cluster with that key, nil if there is none.
func (r *Repository) Cluster(key page.ContentKey) *Cluster { return r.clusters[key] }

// Len is the number of URLs known and of clusters.
func (r *Repository) Len() (urls, clusters int) { return len(r.urls), len(r.clusters) }

// URLs yields all URLs known in byte order.
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
