package document

import (
	"context"
	"iter"
	"time"

	"github.com/webindexer/indexer/page"
)

// Reader reads what is stored of one cluster, at one snapshot.
//
// A sequence ends after an error. Positions are opaque to this package: they are
// never empty, ascend within a sequence, and stay valid at other snapshots, where
// the member or link at a position may have gone.
type Reader interface {
	// Members yields the members in the order of preference, beginning with the
	// first at or after a position; "" is the beginning.
	Members(ctx context.Context, from string) iter.Seq2[Member, error]
	// Links yields the links to a URL by source, one for each source, beginning
	// with the first at or after a position; "" is the beginning. It fills in
	// everything but Place.Member.
	Links(ctx context.Context, target page.URL, from string) iter.Seq2[Link, error]
	// IsMember reports whether a URL belongs to the cluster.
	IsMember(ctx context.Context, u page.URL) (bool, error)
	// Rank returns the published rank of a URL, 0 if it has none.
	Rank(ctx context.Context, u page.URL) (float64, error)
	// Text returns the text of a page.
	Text(ctx context.Context, u page.URL) (Text, error)
	// FetchedAt returns when a URL was fetched, as the index shows it.
	FetchedAt(ctx context.Context, u page.URL) (time.Time, error)
}

// Member is a member of a cluster.
type Member struct {
	At  string // position
	URL page.URL
}

// Link is all links from one URL to another.
type Link struct {
	Place
	Source, Target page.URL
	Anchors        []string // one for each link; may hold ""
	OtherSite      bool     // source and target are on different sites
}

// Place is where a link is in a visit of the links to all members of a cluster.
type Place struct {
	Member string // position of the target among the members
	Link   string // position of the source among the links to the target
}

// Text is what a page says.
type Text struct {
	Title, Text, Language string
	Outline               string // as page.Document has it
}
