package document

import (
	"cmp"
	"context"
	"iter"

	"github.com/webindexer/indexer/page"
)

// Inlinks visits the inlinks of a cluster: the links to its members from outside
// the cluster. The visit can be made in parts, each at another snapshot.
type Inlinks struct {
	remember int               // how many members inside may hold
	begun    bool              // inside was read
	inside   map[page.URL]bool // the members; nil if they are too many to remember
	at       Place             // where to continue; an empty position is the beginning
	more     bool
}

// newInlinks begins a visit.
func newInlinks(limits Limits) *Inlinks { return InlinksFrom(Place{}, limits) }

// InlinksFrom continues a visit at a place.
func InlinksFrom(at Place, limits Limits) *Inlinks {
	return &Inlinks{remember: limits.WithDefaults().Insiders, at: at}
}

// Next yields further inlinks, by target in the order of preference, then by source.
// Each member subtracts one from left, and so does each link, whether or not it comes
// from outside. The visit stops when left is used up.
func (v *Inlinks) Next(ctx context.Context, r Reader, left *int) iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		v.more = false
		if err := v.readMembers(ctx, r); err != nil {
			yield(Link{}, err)
			return
		}
		for m, err := range r.Members(ctx, v.at.Member) {
			if err != nil {
				yield(Link{}, err)
				return
			}
			if m.At != v.at.Member {
				v.at = Place{Member: m.At}
			}
			if v.at.Link == "" {
				*left--
			}
			if v.more = *left < 0; v.more || !v.linksTo(ctx, r, m.URL, left, yield) {
				return
			}
		}
	}
}

// More reports whether the last call of Next stopped because left was used up.
func (v *Inlinks) More() bool { return v.more }

// linksTo yields the inlinks of one member, and reports whether the visit continues.
func (v *Inlinks) linksTo(ctx context.Context, r Reader, target page.URL, left *int, yield func(Link, error) bool) bool {
	for l, err := range r.Links(ctx, target, v.at.Link) {
		if err != nil {
			yield(Link{}, err)
			return false
		}
		if *left--; *left < 0 {
			v.at.Link, v.more = l.Place.Link, true
			return false
		}
		inside, err := v.isInside(ctx, r, l.Source)
		if err == nil && inside {
			continue
		}
		l.Place.Member = v.at.Member
		if !yield(l, err) || err != nil {
			return false
		}
	}
	return true
}

// readMembers remembers the members, once for all parts of a visit.
func (v *Inlinks) readMembers(ctx context.Context, r Reader) error {
	if v.begun {
		return nil
	}
	inside := make(map[page.URL]bool)
	for m, err := range r.Members(ctx, "") {
		if err != nil {
			return err
		}
		if len(inside) == v.remember {
			inside = nil
			break
		}
		inside[m.URL] = true
	}
	v.inside, v.begun = inside, true
	return nil
}

// isInside reports whether a URL is a member. Links from members are not inlinks.
func (v *Inlinks) isInside(ctx context.Context, r Reader, u page.URL) (bool, error) {
	if v.inside != nil {
		return v.inside[u], nil
	}
	return r.IsMember(ctx, u)
}

func (p Place) before(q Place) bool {
	return cmp.Or(cmp.Compare(p.Member, q.Member), cmp.Compare(p.Link, q.Link)) < 0
}
