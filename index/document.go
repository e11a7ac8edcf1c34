package index

import (
	"fmt"
	"math"
	"time"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// Document is one document of the index: a cluster under its canonical URL.
type Document struct {
	// Cluster identifies the document; there is one document per cluster.
	Cluster page.ContentKey
	// Seq is the snapshot timestamp at which the document was computed, below 1<<63. Of
	// two changes of one cluster the one with the higher Seq wins.
	Seq uint64

	URL                   page.URL
	Title, Text, Language string // Language: lower-case BCP 47 tag, or ""
	Outline               string // of Text, as page.Document has it
	// FetchedAt has a resolution of nanoseconds and is returned in UTC. Zero means
	// unknown. Years 1678 to 2261.
	FetchedAt time.Time
	Rank      float64 // finite, not negative

	// Members are the URLs of the cluster, including URL, possibly capped by the caller;
	// MembersTotal is their true number.
	Members      []page.URL
	MembersTotal int
	// Anchors are the best distinct anchor texts, best first, capped by the caller;
	// Inlinks is the true number of inlinks.
	Anchors []Anchor
	Inlinks int

	// Digest is a digest of whatever the caller uses to compare documents ([State]).
	Digest [8]byte
}

// Anchor is one distinct text of links to a cluster.
type Anchor struct {
	Text  string `json:"text"`
	Count int    `json:"count"` // inlinks with this text
	// Others is how many of them come from another site ([FromOtherSite]).
	Others int `json:"others,omitempty"`
}

// FromOtherSite reports whether a link leads to a different site. A site is a host, with
// or without www., on any scheme and port. What people write about other people's pages
// says more than the menus of their own pages.
func FromOtherSite(source, target page.URL) bool {
	return search.HostOf(source) != search.HostOf(target)
}

// Change is one step of the pipeline for one cluster. Make it with [Upsert] or [Delete].
type Change struct {
	Doc     *Document // nil: the cluster has no document
	Cluster page.ContentKey
	Seq     uint64
	// Thumbnail is a small picture of the page under Doc.URL, nil if there is none. An index
	// may leave it out.
	Thumbnail []byte
}

// Upsert returns the change that gives d's cluster this document.
func Upsert(d *Document) Change { return Change{Doc: d, Cluster: d.Cluster, Seq: d.Seq} }

// Delete returns the change that leaves a cluster without a document.
func Delete(cluster page.ContentKey, seq uint64) Change {
	return Change{Cluster: cluster, Seq: seq}
}

// Touch renews the fetch time of a cluster's document, if the document has this canonical
// URL.
type Touch struct {
	Cluster   page.ContentKey
	URL       page.URL
	FetchedAt time.Time
}

// RankUpdate sets the rank of a cluster's document, as computed at a snapshot.
type RankUpdate struct {
	Cluster page.ContentKey
	Seq     uint64
	Rank    float64
}

// MaxText bounds the title plus text of a document, in bytes.
const MaxText = 64 << 20

// Validate returns an error that matches ErrInvalid if the change cannot be stored.
func (c *Change) Validate() error {
	if c.Seq > math.MaxInt64 {
		return fmt.Errorf("%w: cluster %x: seq %d is not below 1<<63", ErrInvalid, c.Cluster[:4], c.Seq)
	}
	if c.Doc == nil {
		return nil
	}
	d := c.Doc
	switch {
	case d.Cluster != c.Cluster || d.Seq != c.Seq:
		return fmt.Errorf("%w: %s: the change and its document differ in cluster or seq", ErrInvalid, d.URL)
	case d.URL == "":
		return fmt.Errorf("%w: cluster %x: document without a URL", ErrInvalid, c.Cluster[:4])
	case !validRank(d.Rank):
		return fmt.Errorf("%w: %s: rank %v", ErrInvalid, d.URL, d.Rank)
	case !validTime(d.FetchedAt):
		return fmt.Errorf("%w: %s: fetch time %v", ErrInvalid, d.URL, d.FetchedAt)
	case len(d.Title)+len(d.Text) > MaxText:
		return fmt.Errorf("%w: %s: title and text of %d bytes, at most %d", ErrInvalid, d.URL, len(d.Title)+len(d.Text), MaxText)
	}
	return nil
}

func validRank(r float64) bool { return r >= 0 && !math.IsInf(r, 1) }

func validTime(t time.Time) bool {
	return t.IsZero() || (t.Year() >= 1678 && t.Year() <= 2261)
}

// packTime returns nanoseconds since 1970, 0 for an unknown time.
func packTime(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func unpackTime(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}
