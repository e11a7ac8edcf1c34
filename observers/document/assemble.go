package document

import (
	"context"
	"crypto/sha256"
	"hash"
	"slices"
	"strconv"
	"time"

	"github.com/webindexer/indexer/page"
)

// Choice is what ranks decide about a cluster; package cluster makes it.
type Choice struct {
	Canonical page.URL // "" if the cluster is not in the index
	Members   int      // number of members of the cluster
	Rank      float64  // the sum of their ranks
}

// Document is what the index shows of a cluster (semantics.md section 7), with as many
// members and anchors as the limits allow.
type Document struct {
	Canonical    page.URL   // "" if the cluster is not in the index; then Members and later fields are empty
	MembersTotal int        // true number
	Rank         float64    // of the cluster
	Members      []page.URL // in byte order
	Text         Text       // of the canonical URL
	FetchedAt    time.Time  // of the canonical URL
	Inlinks      int        // true number
	Anchors      []Anchor
	Digest       [8]byte // of everything but times and ranks
}

// Assembly is a document whose inlinks are still being read.
type Assembly struct {
	doc     *Document
	limits  Limits
	digest  hash.Hash // nil once the document is complete
	inlinks *Inlinks
	anchors *anchorCounter
}

// Begin reads everything but the inlinks.
func Begin(ctx context.Context, r Reader, limits Limits, c Choice) (_ *Assembly, err error) {
	limits = limits.WithDefaults()
	d := &Document{Canonical: c.Canonical, MembersTotal: c.Members, Rank: c.Rank}
	a := &Assembly{doc: d, limits: limits, digest: sha256.New(), inlinks: newInlinks(limits), anchors: newAnchorCounter(limits)}
	if d.Canonical == "" {
		return a, nil
	}
	if d.Text, err = r.Text(ctx, d.Canonical); err != nil {
		return nil, err
	}
	if d.FetchedAt, err = r.FetchedAt(ctx, d.Canonical); err != nil {
		return nil, err
	}
	if d.Members, err = shownMembers(ctx, r, d.Canonical, limits.Members); err != nil {
		return nil, err
	}
	add(a.digest, string(d.Canonical), d.Text.Title, d.Text.Language, d.Text.Text, strconv.Itoa(d.MembersTotal))
	for _, m := range d.Members {
		add(a.digest, string(m))
	}
	if d.Text.Outline != "" { // so that documents of versions that knew no outlines keep their digest
		add(a.digest, d.Text.Outline)
	}
	return a, nil
}

// Next reads further inlinks until left is used up (see [Inlinks.Next]), and reports
// whether it has read all. Do not use the assembly after an error: it may have counted
// half a part.
func (a *Assembly) Next(ctx context.Context, r Reader, left *int) (all bool, err error) {
	if a.doc.Canonical == "" || a.anchors == nil {
		return true, nil
	}
	for a.anchors.reading != done {
		for l, err := range a.inlinks.Next(ctx, r, left) {
			if err != nil {
				return false, err
			}
			if a.anchors.reading == counting {
				a.doc.Inlinks += len(l.Anchors)
				add(a.digest, l.Place.Link)
				add(a.digest, l.Anchors...)
			}
			more, err := a.anchors.add(ctx, r, &l)
			if err != nil {
				return false, err
			}
			if !more {
				break
			}
		}
		if a.inlinks.More() {
			return false, nil
		}
		a.anchors.end()
		a.inlinks = newInlinks(a.limits)
	}
	return true, nil
}

// Document returns the document once all inlinks have been read. It frees the memory that
// counting needed, and may be called again.
func (a *Assembly) Document() *Document {
	if a.doc.Canonical != "" && a.digest != nil {
		a.doc.Anchors = a.anchors.chosen()
		copy(a.doc.Digest[:], a.digest.Sum(nil))
	}
	a.digest, a.inlinks, a.anchors = nil, nil, nil
	return a.doc
}

// shownMembers lists the first members in the order of preference. The canonical URL is
// always among them: it takes the place of the last one if need be. They are returned in
// byte order.
func shownMembers(ctx context.Context, r Reader, canonical page.URL, limit int) (shown []page.URL, err error) {
	for m, err := range r.Members(ctx, "") {
		if err != nil {
			return nil, err
		}
		if len(shown) == limit {
			break
		}
		shown = append(shown, m.URL)
	}
	if len(shown) > 0 && !slices.Contains(shown, canonical) {
		shown[len(shown)-1] = canonical
	}
	slices.Sort(shown)
	return shown, nil
}

func add(h hash.Hash, list ...string) {
	for _, s := range list {
		h.Write([]byte(s)) // a hash never fails
		h.Write([]byte{0})
	}
}
