package document

import "cmp"

// Limits bound what is read, kept in memory and shown of a cluster. They change how the
// work is divided and how much a document carries; a document always has the true numbers
// of what it cuts off. A field that is zero has its default.
type Limits struct {
	// Members is how many members a document lists. The canonical URL is always
	// among them. Default: DefaultMembers.
	Members int
	// Anchors is how many different anchors a document carries. Default:
	// DefaultAnchors.
	Anchors int
	// CountedAnchors is how many different anchors of a cluster are counted at a
	// time. It bounds memory. Default: 20,000.
	CountedAnchors int
	// InlinkRows is how many rows one transaction visits while it looks for the
	// inlinks of a cluster. Default: 25,000, which take some 50 ms.
	InlinkRows int
	// Insiders is how many members are remembered to recognise links from within the
	// cluster. In a larger cluster, each source is looked up. Default: 512.
	Insiders int
	// Passes is how many clusters may be in the middle of a pass over their inlinks,
	// because a pass keeps its counts in memory. Default: 16.
	Passes int
}

// The default limits of a document, which also has the true numbers; export and inspect
// read everything from the repository.
const (
	DefaultMembers = 1000
	DefaultAnchors = 200
)

// WithDefaults returns the limits with the defaults filled in.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Members:        cmp.Or(l.Members, DefaultMembers),
		Anchors:        cmp.Or(l.Anchors, DefaultAnchors),
		CountedAnchors: cmp.Or(l.CountedAnchors, 20_000),
		InlinkRows:     cmp.Or(l.InlinkRows, 25_000),
		Insiders:       cmp.Or(l.Insiders, 512),
		Passes:         cmp.Or(l.Passes, 16),
	}
}
