package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// Options say what to show about a URL.
type Options struct {
	At    snapshot.Moment
	Limit int // entries of each list; 0: all
	// After is the Next of an earlier inspection of the same URL, whose lists this
	// inspection continues. "" begins at the beginning.
	After string
	// KnownMembers is as in snapshot.ClusterOptions.
	KnownMembers int
}

// Inspected is an inspection whose lists may not fit into memory. The fields of the lists
// are not set; methods visit them, each list at most once. It is valid only within the
// function that gets it.
type Inspected struct {
	*Inspection
	MembersTotal, OutlinksTotal int // lengths of the whole lists

	read      *inspector
	from, end cursor // of the entries shown
	limit     int
	cut       bool // a list was cut
	// Numbers of all inlinks and of the pages that have them; -1: not counted yet.
	inlinks, inPages int
}

// Long calls use with an inspection as of a moment, and with the transaction that it
// reads in. Errors: those of snapshot.Past, ErrCursor, errors of the store and of use.
func Long(ctx context.Context, src Source, u page.URL, opts Options, use func(*Inspected, *txn.Txn) error) (err error) {
	from, err := parseCursor(u, opts.After)
	if err != nil {
		return err
	}
	read, err := open(ctx, src, u, opts.At, opts.KnownMembers)
	if err != nil {
		return fmt.Errorf("inspect %s: %w", u, err)
	}
	defer func() { err = errors.Join(err, read.close()) }()
	for _, step := range []func(context.Context) error{read.readFetch, read.readDocument, read.readRendering, read.readCluster} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("inspect %s: %w", u, err)
		}
	}
	i := &Inspected{Inspection: read.Inspection, OutlinksTotal: len(read.outlinks), read: read, from: from, end: from, limit: opts.Limit, inlinks: -1, inPages: -1}
	if read.clustered {
		i.MembersTotal = read.cluster.Count
	}
	return use(i, read.tx)
}

// Next returns where the lists were cut, for Options.After, or "" if all were shown to the
// end. Call it after visiting all three lists.
func (i *Inspected) Next() string {
	if !i.cut {
		return ""
	}
	return i.end.text(i.URL)
}

// Shown returns how many entries of each list were shown, by this inspection and by those
// that it continues.
func (i *Inspected) Shown() (members, outlinks, inlinks int) {
	return i.end.members.shown, i.end.outlinks.shown, i.end.inlinks.shown
}

// errEnough ends a visit.
var errEnough = errors.New("enough of a list")

// listed is a list that is being visited. It stops at the limit, and distinguishes errors
// of the visitor from errors of the store.
type listed struct {
	of     *Inspected
	end    *place
	shown  int
	failed error // of the visitor
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

// ended returns the error of a visit that has ended with err.
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
	return list.ended(i.read.cluster.EachMember(func(u page.URL) error {
		if string(u) <= i.from.members.after {
			return nil
		}
		return list.show(string(u), func() error { return fn(u) })
	}))
}

// EachOutlink visits the counting links of the page, by target.
func (i *Inspected) EachOutlink(fn func(Outlink) error) error {
	list := listed{of: i, end: &i.end.outlinks}
	nth := 0 // number of the link among those to the target
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

// EachInlink visits the inlinks of the URL's cluster, by target, then by source in the
// order of rows, then by anchor.
func (i *Inspected) EachInlink(fn func(observers.Inlink) error) error {
	list := listed{of: i, end: &i.end.inlinks}
	from := i.from.inlinks
	all, rows := 0, 0
	err := i.read.cluster.EachLinkRow(from.after, func(l *snapshot.LinkRow) error {
		rows++
		source, err := l.Source()
		if err != nil {
			return err
		}
		for n, anchor := range l.Anchors {
			if all++; l.Row == from.after && n < from.n {
				continue
			}
			if err := list.show(l.Row, func() error { return fn(observers.Inlink{Source: source, Target: l.Target, Anchor: anchor}) }); err != nil {
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
