package repository

import (
	"context"
	"errors"
	"fmt"

	"indexer/observers"
	"indexer/page"
	"indexer/txn"
)

// InspectOptions say what to tell of a URL.
type InspectOptions struct {
	At    Moment
	Limit int // entries of each list; 0: all
	// After is where an inspection of the same URL has cut its lists (Inspected.Next):
	// this one goes on there. "": at the beginning.
	After string
}

// Inspected is an inspection whose lists may be longer than memory: they are not set, but
// visited, by one visit each. It is valid within the function that gets it.
type Inspected struct {
	*Inspection
	MembersTotal, OutlinksTotal int // of the whole lists

	read      *inspector
	from, end cursor // of what is shown
	limit     int
	cut       bool // one of the lists
	// All inlinks, and the pages they are of; -1: they were not counted yet.
	inlinks, inPages int
}

// InspectLong tells everything about a URL as of a moment. Use gets it, and the
// transaction that reads there, for what others know. Errors: those of use; ErrCursor;
// those of ExportAs.
func (r *Repository) InspectLong(ctx context.Context, u page.URL, opts InspectOptions, use func(*Inspected, *txn.Txn) error) (err error) {
	from, err := parseCursor(u, opts.After)
	if err != nil {
		return err
	}
	tx, err := r.Past(ctx, opts.At)
	if err != nil {
		return fmt.Errorf("inspect %s: %w", u, err)
	}
	defer tx.Rollback()
	reading := newReading(r.db, tx)
	defer reading.close()
	read := r.newInspector(ctx, u, reading)
	defer func() { err = errors.Join(err, read.cluster.close()) }()
	read.date(r, tx, opts.At)
	if err := read.read(ctx, tx); err != nil {
		return fmt.Errorf("inspect %s: %w", u, err)
	}
	i := &Inspected{Inspection: read.Inspection, OutlinksTotal: len(read.outlinks), read: read, from: from, end: from, limit: opts.Limit, inlinks: -1, inPages: -1}
	if read.clustered {
		i.MembersTotal = read.cluster.Count
	}
	return use(i, tx)
}

// Next is where the lists were cut, for InspectOptions.After; "" if they were shown to
// their ends. It is known when all three were visited.
func (i *Inspected) Next() string {
	if !i.cut {
		return ""
	}
	return i.end.text(i.URL)
}

// Shown is how many entries were shown of each list, by this inspection and by those it
// goes on from.
func (i *Inspected) Shown() (members, outlinks, inlinks int) {
	return i.end.members.shown, i.end.outlinks.shown, i.end.inlinks.shown
}

// errEnough ends a visit.
var errEnough = errors.New("enough of a list")

// listed is a list that is being shown: it stops at the limit, and keeps errors of
// whoever it is shown to from being taken for those of the store.
type listed struct {
	of     *Inspected
	end    *place
	shown  int
	failed error
}

func (l *listed) show(at string, fn func() error) error {
	if l.of.limit > 0 && l.shown == l.of.limit {
		l.of.cut = true
		return errEnough
	}
	l.shown++
	l.end.pass(at)
	if l.failed = fn(); l.failed != nil {
		return errEnough
	}
	return nil
}

// ended is the error of a visit that has ended with err.
func (l *listed) ended(err error) error {
	switch {
	case l.failed != nil:
		return l.failed
	case errors.Is(err, errEnough):
		return nil
	case err != nil:
		return fmt.Errorf("inspect %s: %w", l.of.URL, err)
	}
	return nil
}

// EachMember visits the members of the URL's cluster in byte order.
func (i *Inspected) EachMember(fn func(page.URL) error) error {
	if !i.read.clustered {
		return nil
	}
	list := listed{of: i, end: &i.end.members}
	return list.ended(i.read.cluster.eachMember(func(u page.URL) error {
		if string(u) <= i.from.members.after {
			return nil
		}
		return list.show(string(u), func() error { return fn(u) })
	}))
}

// EachOutlink visits the counting links of the page, by target.
func (i *Inspected) EachOutlink(fn func(Outlink) error) error {
	list := listed{of: i, end: &i.end.outlinks}
	nth := 0 // of the links to one target
	for n, l := range i.read.outlinks {
		if nth++; n == 0 || l.URL != i.read.outlinks[n-1].URL {
			nth = 1
		}
		if at := i.from.outlinks; string(l.URL) < at.after || string(l.URL) == at.after && nth <= at.n {
			continue
		}
		if err := list.show(string(l.URL), func() error { return fn(l) }); err != nil {
			return list.ended(err)
		}
	}
	return nil
}

// EachInlink visits the inlinks of the URL's cluster: by target, then source, in the
// order of rows, then anchor.
func (i *Inspected) EachInlink(fn func(observers.Inlink) error) error {
	list := listed{of: i, end: &i.end.inlinks}
	from := i.from.inlinks
	all, rows := 0, 0
	err := i.read.cluster.eachLinkRow(from.after, func(l *linkRow) error {
		rows++
		source, err := l.source()
		if err != nil {
			return err
		}
		for n, anchor := range l.anchors {
			if all++; l.row == from.after && n < from.n {
				continue
			}
			if err := list.show(l.row, func() error { return fn(observers.Inlink{Source: source, Target: l.target, Anchor: anchor}) }); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && from.after == "" {
		if i.inlinks = all; i.read.cluster.Count == 1 {
			i.inPages = rows
		}
	}
	return list.ended(err)
}
