package repository

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"indexer/observers"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Overview is an Inspection whose lists are windows, for whoever shows it piece by
// piece: a popular page has more inlinks than fit an answer.
type Overview struct {
	*Inspection
	MembersTotal  int `json:"members_total"`
	OutlinksTotal int `json:"outlinks_total"`
	InlinksTotal  int `json:"inlinks_total"`
	// InlinksAbout says that there are more inlinks than were counted: InlinksTotal is how
	// many there were when the document was exported last, or so many at least.
	InlinksAbout bool `json:"inlinks_total_about,omitempty"`
	// LinkingPages are the pages that Inlinks come from, LinkedPages those that Outlinks lead
	// to, each with its anchors: windows as well. As Inlinks are, LinkingPages may be more
	// than were counted.
	LinkingPages      []PageLinks `json:"linking_pages,omitempty"`
	LinkingPagesTotal int         `json:"linking_pages_total"`
	LinkedPages       []PageLinks `json:"linked_pages,omitempty"`
	LinkedPagesTotal  int         `json:"linked_pages_total"`
	// Chain is the way from the URL to where it leads in the end, itself first.
	Chain []page.URL `json:"chain"`
}

// maxChain bounds how far a Chain is followed; ways are no longer than that.
const maxChain = 64

// Window is a part of a list.
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

// What an overview reads is bounded by what it shows, not by what there is:
//
//   - of the inlinks those up to the end of the window, and no fewer than countedInlinks, so
//     that most lists have a true total;
//   - of the members all, but no more than listedMembers, as Inspect orders them. Of a
//     cluster with more, those up to the end of the window, in the order of preference.
//
// The window of an entry far behind is as dear as all before it; InspectLong goes on where
// it was.
var (
	countedInlinks = 10_000
	listedMembers  = 10_000
)

// Overview tells everything about a URL as of now, of the lists only what the windows show.
func (r *Repository) Overview(ctx context.Context, u page.URL, w Windows) (*Overview, error) {
	return r.OverviewAt(ctx, u, w, Moment{}, nil)
}

// OverviewAt is Overview as of a moment. With more, it is called with the transaction that reads there, for what others
// know. Errors: as those of ExportAs.
func (r *Repository) OverviewAt(ctx context.Context, u page.URL, w Windows, m Moment, more func(*txn.Txn) error) (_ *Overview, err error) {
	tx, err := r.Past(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("overview of %s: %w", u, err)
	}
	defer tx.Rollback()
	reading := newReading(r.db, tx)
	defer reading.close()
	i := r.newInspector(ctx, u, reading)
	defer func() { err = errors.Join(err, i.cluster.close()) }()
	i.date(r, tx, m)
	o := &overview{Overview: &Overview{Inspection: i.Inspection}, inspector: i, ctx: ctx, tx: tx}
	steps := []func() error{
		func() error { return i.readFetch(ctx, tx) },
		func() error { return i.readDocument(ctx, tx) },
		o.readCluster,
		o.readChain,
		func() error { return o.readMembers(w.Members) },
		func() error { return o.readInlinks(w.Inlinks, w.LinkingPages) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, fmt.Errorf("overview of %s: %w", u, err)
		}
	}
	o.OutlinksTotal, o.Outlinks = len(i.outlinks), cut(i.outlinks, w.Outlinks)
	linked := outPages(i.outlinks)
	o.LinkedPagesTotal, o.LinkedPages = len(linked), cut(linked, w.LinkedPages)
	if more != nil {
		return o.Overview, more(tx)
	}
	return o.Overview, nil
}

// overview is an Overview that is being read.
type overview struct {
	*Overview
	inspector *inspector
	ctx       context.Context
	tx        *txn.Txn
	key       page.ContentKey // of the cluster, if the URL has one
	clustered bool
	whole     bool // all members are in the inspector's cluster
}

// readCluster reads what inspector.readCluster does, without the members.
func (o *overview) readCluster() error {
	way, err := observers.WayOf(o.ctx, o.tx, o.URL)
	if err != nil {
		return err
	}
	o.LeadsTo = way.LeadsTo
	if !way.HasTerminal {
		o.Reason, o.whole = o.whyNoTerminal(), true
		return o.inspector.cluster.readSingle(o.URL)
	}
	o.Terminal, o.Cluster = way.Terminal, hex.EncodeToString(way.Cluster[:])
	o.key, o.clustered = way.Cluster, true
	head, err := observers.ReadHead(o.ctx, o.tx, o.key)
	if err != nil {
		return err
	}
	o.Canonical, o.MembersTotal, o.Rank = head.Canonical, head.Members, &head.Rank
	o.Indexed = o.Canonical != "" && o.Canonical == o.URL
	o.Reason = o.whyIndexed()
	return nil
}

// readChain follows the way step by step.
func (o *overview) readChain() error {
	for u := o.URL; u != "" && len(o.Chain) < maxChain; {
		o.Chain = append(o.Chain, u)
		way, err := observers.WayOf(o.ctx, o.tx, u)
		if err != nil {
			return err
		}
		u = way.LeadsTo
	}
	return nil
}

func (o *overview) readMembers(w Window) error {
	o.Members = []page.URL{}
	if !o.clustered {
		return nil
	}
	most := listedMembers
	if o.whole = o.MembersTotal <= listedMembers; !o.whole {
		most = w.end()
	}
	var list []page.URL
	_, err := observers.VisitMembers(o.ctx, o.tx, o.key, "", most, func(m schema.MemberInfo) error {
		list = append(list, m.URL)
		return nil
	})
	if err != nil || !o.whole {
		o.Members = cut(list, w)
		return err
	}
	slices.Sort(list)
	o.Members = cut(list, w)
	return o.inspector.cluster.take(o.key, list)
}

func (o *overview) readInlinks(w, byPage Window) (err error) {
	o.Inlinks = []observers.Inlink{}
	most := max(w.end(), byPage.end(), countedInlinks)
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
		o.InlinksAbout, err = o.inspector.cluster.visitInlinks(most, note)
	} else {
		var next observers.Cursor
		next, err = observers.VisitClusterInlinks(o.ctx, o.tx, o.key, "", most, note)
		o.InlinksAbout = next != ""
	}
	if err != nil || !o.InlinksAbout || !o.clustered {
		return err
	}
	stored, err := o.tx.Get(o.ctx, schema.ClusterRow(o.key), schema.Indexed)
	if err != nil || !stored.Exists {
		return err
	}
	exported, err := schema.DecodeIndexed(stored.Data)
	o.InlinksTotal = max(o.InlinksTotal, exported.Inlinks)
	return err
}

// end is how many entries of a list the window needs read.
func (w Window) end() int { return max(w.Offset, 0) + max(w.Limit, 0) }

// shows reports whether the entry at a place is in the window.
func (w Window) shows(at int) bool { return at >= w.Offset && at-w.Offset < w.Limit }

// cut is the part of a list in a window.
func cut[T any](list []T, w Window) []T {
	from := min(max(w.Offset, 0), len(list))
	return append([]T{}, list[from:from+min(max(w.Limit, 0), len(list)-from)]...)
}
