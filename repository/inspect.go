package repository

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"indexer/observers"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Inspection is everything the repository knows of one URL.
type Inspection struct {
	URL        page.URL   `json:"url"`
	Outcome    string     `json:"outcome"`
	Status     int        `json:"status"`
	FetchedAt  *time.Time `json:"fetched_at"`
	Title      string     `json:"title"`
	Language   string     `json:"language"`
	ContentKey string     `json:"content_key"`
	LeadsTo    page.URL   `json:"leads_to"`
	Terminal   page.URL   `json:"terminal"`
	Cluster    string     `json:"cluster"`
	Canonical  page.URL   `json:"canonical"`
	Members    []page.URL `json:"members"`
	// Rank is that of the document: of the cluster, the sum over its members (semantics.md
	// section 6). A URL in no cluster stands for itself. It is nil for a URL that was
	// neither fetched nor linked to: it has none.
	Rank *float64 `json:"rank"`
	// URLRank is the share of this URL in it; nil where Rank is.
	URLRank  *float64           `json:"url_rank"`
	Outlinks []Outlink          `json:"outlinks"`
	Inlinks  []observers.Inlink `json:"inlinks"`
	// Frames are what <frame> and <iframe> of the page show. They are no links.
	Frames  []page.URL `json:"frames,omitempty"`
	Indexed bool       `json:"indexed"`
	Reason  string     `json:"reason"`
	// Failure is the newest failed fetch, if there was one.
	Failure string `json:"failure,omitempty"`
	// Pending is how much the observers still have to do, over all URLs: what is
	// told here may be about to change.
	Pending int `json:"pending"`
	// AsOf is set where a moment of the past was asked for. Pending is 0 then: what
	// was left to do is not kept.
	AsOf *AsOf `json:"as_of,omitempty"`
}

// AsOf says which state was read.
type AsOf struct {
	TS    uint64     `json:"ts"`              // what was committed at this timestamp, or before
	Asked *time.Time `json:"asked,omitempty"` // the time of day it stands for
}

// Outlink is a counting link of a page.
type Outlink struct {
	URL    page.URL `json:"url"`
	Anchor string   `json:"anchor"`
}

// Inspect tells everything about a URL as of now.
func (r *Repository) Inspect(ctx context.Context, u page.URL) (*Inspection, error) {
	return r.InspectAt(ctx, u, Moment{})
}

// InspectAt tells everything about a URL as of a moment, with lists that are in memory:
// see InspectLong for giants. Errors: as those of ExportAs.
func (r *Repository) InspectAt(ctx context.Context, u page.URL, m Moment) (*Inspection, error) {
	var all *Inspection
	err := r.InspectLong(ctx, u, InspectOptions{At: m}, func(i *Inspected, _ *txn.Txn) error {
		all = i.Inspection
		all.Members, all.Outlinks, all.Inlinks = []page.URL{}, []Outlink{}, []observers.Inlink{}
		return errors.Join(
			i.EachMember(func(u page.URL) error { all.Members = append(all.Members, u); return nil }),
			i.EachOutlink(func(l Outlink) error { all.Outlinks = append(all.Outlinks, l); return nil }),
			i.EachInlink(func(l observers.Inlink) error { all.Inlinks = append(all.Inlinks, l); return nil }),
		)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// inspector reads what is known of a URL.
type inspector struct {
	*Inspection           // without lists
	outlinks    []Outlink // all: of a page, which was in memory
	cluster     *cluster  // of the URL, or of itself alone
	clustered   bool
}

// newInspector prepares for reading in the transaction that reading was made of. The
// caller closes its cluster.
func (r *Repository) newInspector(ctx context.Context, u page.URL, reading *reading) *inspector {
	return &inspector{Inspection: &Inspection{URL: u}, cluster: newCluster(ctx, reading, r.dir)}
}

// date says of which moment it is.
func (i *Inspection) date(r *Repository, tx *txn.Txn, m Moment) {
	if m.IsNow() {
		i.Pending = r.pipeline.Backlog()
		return
	}
	i.AsOf = &AsOf{TS: tx.Start()}
	if !m.Time.IsZero() {
		i.AsOf.Asked = &m.Time
	}
}

func (i *inspector) read(ctx context.Context, tx *txn.Txn) error {
	for _, step := range []func(context.Context, *txn.Txn) error{i.readFetch, i.readDocument, i.readCluster} {
		if err := step(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (i *Inspection) readFetch(ctx context.Context, tx *txn.Txn) error {
	row := schema.URLRow(i.URL)
	content, err := tx.Get(ctx, row, schema.FetchContent)
	if err != nil {
		return err
	}
	if content.Exists {
		f, _, err := schema.DecodeContent(content.Data)
		if err != nil {
			return err
		}
		i.Status = f.Status
	}
	at, err := observers.FetchedAt(ctx, tx, i.URL)
	if err != nil {
		return err
	}
	if content.Exists {
		i.FetchedAt = &at
	}
	last, err := observers.LastFailure(ctx, tx, i.URL)
	if err != nil || last == nil {
		return err
	}
	i.Failure = fmt.Sprintf("%s at %s", last.Reason, last.Time.Format(time.RFC3339))
	if !content.Exists {
		i.Status = last.Status
	}
	return nil
}

func (i *inspector) readDocument(ctx context.Context, tx *txn.Txn) error {
	state, outcome, err := observers.OutcomeOf(ctx, tx, i.URL)
	if err != nil {
		return err
	}
	i.Outcome = outcome.String()
	own, known, err := observers.KnownRank(ctx, tx, i.URL)
	if err != nil {
		return err
	}
	if known || outcome != page.Unfetched {
		i.Rank, i.URLRank = &own, &own
	}
	if outcome != page.Page {
		return nil
	}
	i.ContentKey = hex.EncodeToString(state.Key[:])
	text, err := observers.TextOf(ctx, tx, i.URL)
	if err != nil {
		return err
	}
	i.Title, i.Language = text.Title, text.Language
	if i.Frames, err = observers.FramesOf(ctx, tx, i.URL); err != nil {
		return err
	}
	links, err := observers.LinksOf(ctx, tx, i.URL)
	for _, l := range links {
		for _, a := range l.Anchors {
			i.outlinks = append(i.outlinks, Outlink{l.Target, a})
		}
	}
	return err
}

func (i *inspector) readCluster(ctx context.Context, tx *txn.Txn) error {
	way, err := observers.WayOf(ctx, tx, i.URL)
	if err != nil {
		return err
	}
	i.LeadsTo = way.LeadsTo
	if !way.HasTerminal {
		i.Reason = i.whyNoTerminal()
		return i.cluster.readSingle(i.URL)
	}
	i.Terminal, i.Cluster = way.Terminal, hex.EncodeToString(way.Cluster[:])
	i.clustered = true
	if err := i.cluster.read(way.Cluster); err != nil {
		return err
	}
	i.Canonical, i.Rank = i.cluster.Canonical, &i.cluster.Rank
	i.Indexed = i.Canonical != "" && i.Canonical == i.URL
	i.Reason = i.whyIndexed()
	return nil
}

func (i *Inspection) whyNoTerminal() string {
	switch i.Outcome {
	case page.Unfetched.String():
		return "it was never fetched"
	case page.Redirect.String():
		return "it redirects, and the redirects lead to no page"
	case page.Gone.String():
		return fmt.Sprintf("it is gone (HTTP status %d)", i.Status)
	case page.Failed.String():
		return "every fetch of it failed"
	}
	return "what was fetched is neither HTML nor plain text"
}

func (i *Inspection) whyIndexed() string {
	switch {
	case i.Indexed:
		return "it is the canonical URL of its cluster"
	case i.Canonical != "":
		return "its cluster is in the index as " + string(i.Canonical)
	}
	return "no member of its cluster can be shown: each leads elsewhere or says noindex"
}
