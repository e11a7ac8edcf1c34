package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Overview is an Inspection whose lists are windows, because the inlinks of a popular page
// do not fit into one answer.
type Overview struct {
	*Inspection
	MembersTotal  int `json:"members_total"`
	OutlinksTotal int `json:"outlinks_total"`
	InlinksTotal  int `json:"inlinks_total"`
	// InlinksAbout says that not all inlinks were counted: InlinksTotal is their number when
	// the document was last exported, or the counted number if that is larger.
	InlinksAbout bool `json:"inlinks_total_about,omitempty"`
	// LinkingPages are the pages that Inlinks come from, and LinkedPages the pages that
	// Outlinks lead to, each with its anchors. Both are windows. If InlinksAbout is set, there
	// may be more LinkingPages than the counted ones.
	LinkingPages      []PageLinks `json:"linking_pages,omitempty"`
	LinkingPagesTotal int         `json:"linking_pages_total"`
	LinkedPages       []PageLinks `json:"linked_pages,omitempty"`
	LinkedPagesTotal  int         `json:"linked_pages_total"`
	// Chain has the URLs from this one to its terminal, along redirects and canonical links.
	Chain []page.URL `json:"chain"`
}

// maxChain bounds how far a chain is followed; the observers allow no longer chain.
const maxChain = 64

// Window selects a part of a list.
type Window struct {
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
}

// Windows say which parts of the lists an Overview has.
type Windows struct {
	Members  Window `json:"members"`
	Outlinks Window `json:"outlinks"`
	Inlinks  Window `json:"inlinks"`

	LinkingPages Window `json:"linking_pages"`
	LinkedPages  Window `json:"linked_pages"`
}

// OverviewOptions say what an overview contains. An overview reads what it shows, not
// everything that exists:
//
//   - inlinks up to the end of their window, and at least CountInlinks, so that most totals
//     are exact;
//   - all members in byte order, as in Inspection, if there are at most ListMembers.
//     Of a larger cluster, it reads members up to the end of the window, in order of
//     preference.
//
// A window far from the beginning costs as much as everything before it; Long with a
// cursor does not.
type OverviewOptions struct {
	Windows
	At snapshot.Moment
	// CountInlinks and ListMembers default to 10,000 if they are 0; a negative number means none.
	CountInlinks, ListMembers int
	// More, if set, is called with the transaction that the overview was read in.
	More func(*txn.Txn) error
}

// ReadOverview returns an overview of a URL. Errors: those of snapshot.Past, of the store
// and of More.
func ReadOverview(ctx context.Context, src Source, u page.URL, opts OverviewOptions) (_ *Overview, err error) {
	opts.CountInlinks, opts.ListMembers = cmp.Or(opts.CountInlinks, 10_000), cmp.Or(opts.ListMembers, 10_000)
	i, err := open(ctx, src, u, opts.At, 0)
	if err != nil {
		return nil, fmt.Errorf("overview of %s: %w", u, err)
	}
	defer func() { err = errors.Join(err, i.close()) }()
	o := &overview{Overview: &Overview{Inspection: i.Inspection}, inspector: i, ctx: ctx, tx: i.tx, opts: opts}
	steps := []func() error{
		func() error { return i.readFetch(ctx) },
		func() error { return i.readDocument(ctx) },
		func() error { return i.readRendering(ctx) },
		o.readCluster,
		o.readChain,
		o.readMembers,
		o.readInlinks,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, fmt.Errorf("overview of %s: %w", u, err)
		}
	}
	o.OutlinksTotal, o.Outlinks = len(i.outlinks), cut(i.outlinks, opts.Outlinks)
	linked := outPages(i.outlinks)
	o.LinkedPagesTotal, o.LinkedPages = len(linked), cut(linked, opts.LinkedPages)
	if opts.More != nil {
		return o.Overview, opts.More(i.tx)
	}
	return o.Overview, nil
}

// overview is an Overview that is being read.
type overview struct {
	*Overview
	inspector *inspector
	ctx       context.Context
	tx        *txn.Txn
	opts      OverviewOptions
	whole     bool // the inspector's cluster has all members
}

// readCluster reads what inspector.readCluster reads, without the members.
func (o *overview) readCluster() error {
	i := o.inspector
	if err := i.readWay(o.ctx); err != nil || !i.clustered {
		o.whole = true
		return err
	}
	head, err := observers.ReadHead(o.ctx, o.tx, i.key)
	if err != nil {
		return err
	}
	o.MembersTotal = head.Members
	o.setCanonical(head.Canonical, &head.Rank)
	return nil
}

// readChain follows the chain step by step, and a loop once.
func (o *overview) readChain() error {
	for u := o.URL; u != "" && len(o.Chain) < maxChain && !slices.Contains(o.Chain, u); {
		o.Chain = append(o.Chain, u)
		way, err := observers.WayOf(o.ctx, o.tx, u)
		if err != nil {
			return err
		}
		u = way.LeadsTo
	}
	return nil
}

func (o *overview) readMembers() error {
	w := o.opts.Members
	o.Members = []page.URL{}
	if !o.inspector.clustered {
		return nil
	}
	most := max(o.opts.ListMembers, 0)
	if o.whole = o.MembersTotal <= most; !o.whole {
		most = w.end()
	}
	var list []page.URL
	_, err := observers.VisitMembers(o.ctx, o.tx, o.inspector.key, "", most, func(m schema.MemberInfo) error {
		list = append(list, m.URL)
		return nil
	})
	if err != nil || !o.whole {
		o.Members = cut(list, w)
		return err
	}
	slices.Sort(list)
	o.Members = cut(list, w)
	return o.inspector.cluster.Take(o.inspector.key, list)
}

func (o *overview) readInlinks() (err error) {
	w, byPage := o.opts.Inlinks, o.opts.LinkingPages
	o.Inlinks = []observers.Inlink{}
	most := max(w.end(), byPage.end(), o.opts.CountInlinks)
	pages := inPages{window: byPage}
	defer func() { o.LinkingPagesTotal, o.LinkingPages = len(pages.at), pages.list() }()
	note := func(l observers.Inlink) error {
		pages.add(l)
		if w.shows(o.InlinksTotal) {
			o.Inlinks = append(o.Inlinks, l)
		}
		o.InlinksTotal++
		return nil
	}
	if o.whole {
		o.InlinksAbout, err = o.inspector.cluster.VisitInlinks(most, note)
	} else {
		var next observers.Cursor
		next, err = observers.VisitClusterInlinks(o.ctx, o.tx, o.inspector.key, "", most, note)
		o.InlinksAbout = next != ""
	}
	if err != nil || !o.InlinksAbout || !o.inspector.clustered {
		return err
	}
	stored, err := o.tx.Get(o.ctx, schema.ClusterRow(o.inspector.key), schema.Indexed)
	if err != nil || !stored.Exists {
		return err
	}
	exported, err := schema.DecodeIndexed(stored.Data)
	o.InlinksTotal = max(o.InlinksTotal, exported.Inlinks)
	return err
}

// end returns how many entries of a list must be read for the window.
func (w Window) end() int { return max(w.Offset, 0) + max(w.Limit, 0) }

// shows reports whether the entry at an index is in the window.
func (w Window) shows(at int) bool { return at >= w.Offset && at-w.Offset < w.Limit }

// cut returns the part of a list in a window.
func cut[T any](list []T, w Window) []T {
	from := min(max(w.Offset, 0), len(list))
	return append([]T{}, list[from:from+min(max(w.Limit, 0), len(list)-from)]...)
}
