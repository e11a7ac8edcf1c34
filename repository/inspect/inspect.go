// Package inspect answers questions about one URL of a repository: its state and the
// reasons for it, its versions and stored copies, and what raw cells of the store mean.
// `indexer inspect`, `indexer scan` and package web use it.
package inspect

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Source is what an inspection reads; *repository.Repository is one.
type Source interface {
	DB() *txn.DB
	Dir() string  // directory for temporary files
	Backlog() int // rows that wait for observers
}

// Inspection is everything the repository knows about one URL. Its JSON has the fields of
// all parts in this order, as if they were one struct; the parts exist so that writers of
// long lists can write what comes between the lists.
type Inspection struct {
	Head
	Members []page.URL `json:"members"`
	Ranks
	Outlinks []Outlink          `json:"outlinks"`
	Inlinks  []observers.Inlink `json:"inlinks"`
	Tail
}

// Head is the part of an inspection before its lists.
type Head struct {
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
}

// Ranks is the part of an inspection between members and links.
type Ranks struct {
	// Rank is the rank of the document: the sum over the members of the cluster
	// (semantics.md section 6). A URL in no cluster is a document of its own. Rank is nil
	// for a URL that was neither fetched nor linked to, which has none.
	Rank *float64 `json:"rank"`
	// URLRank is the share of this URL. It is nil if Rank is.
	URLRank *float64 `json:"url_rank"`
}

// Tail is the part of an inspection after its lists.
type Tail struct {
	// Frames are the URLs that <frame> and <iframe> elements of the page show. They do not
	// count as links.
	Frames []page.URL `json:"frames,omitempty"`
	// Rendering is nil unless pages are rendered and this is one.
	Rendering *Rendering `json:"rendering,omitempty"`
	// NeededBy are pages that asked for this URL when they were rendered, at most 20.
	NeededBy []page.URL `json:"needed_by,omitempty"`
	Indexed  bool       `json:"indexed"`
	Reason   string     `json:"reason"`
	// Failure describes the newest failed fetch, if any.
	Failure string `json:"failure,omitempty"`
	// Pending is how many rows, of all URLs, wait for observers: the inspection may be about
	// to change.
	Pending int `json:"pending"`
	// AsOf is set if a moment of the past was requested. Pending is then 0, because the
	// backlog of the past is not kept.
	AsOf *AsOf `json:"as_of,omitempty"`
}

// AsOf says which state was read.
type AsOf struct {
	TS    uint64     `json:"ts"`              // the newest commit timestamp of the state
	Asked *time.Time `json:"asked,omitempty"` // the requested time of day
}

// Outlink is a counting link of a page.
type Outlink struct {
	URL    page.URL `json:"url"`
	Anchor string   `json:"anchor"`
}

// URL returns everything about a URL, with its lists in memory; for giant clusters see
// Long. Errors: those of Long.
func URL(ctx context.Context, src Source, u page.URL, opts Options) (*Inspection, error) {
	var all *Inspection
	err := Long(ctx, src, u, opts, func(i *Inspected, _ *txn.Txn) error {
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

// inspector reads what is known about a URL at one snapshot.
type inspector struct {
	*Inspection           // without lists
	outlinks    []Outlink // all of them: they come from one page, which has been in memory before
	cluster     *snapshot.Cluster
	clustered   bool            // cluster is that of the URL; otherwise it is the URL alone
	key         page.ContentKey // of the cluster, if clustered

	db     *txn.DB
	tx     *txn.Txn
	reader *snapshot.Reader
}

// open starts an inspection as of a moment. The caller closes it.
func open(ctx context.Context, src Source, u page.URL, at snapshot.Moment, known int) (*inspector, error) {
	tx, err := snapshot.Past(ctx, src.DB(), at)
	if err != nil {
		return nil, err
	}
	i := &inspector{Inspection: &Inspection{Head: Head{URL: u}}, db: src.DB(), tx: tx, reader: snapshot.NewReader(src.DB(), tx)}
	i.cluster = snapshot.NewCluster(ctx, i.reader, snapshot.ClusterOptions{Scratch: src.Dir(), KnownMembers: known})
	if at.IsNow() {
		i.Pending = src.Backlog()
		return i, nil
	}
	i.AsOf = &AsOf{TS: tx.Start()}
	if !at.Time.IsZero() {
		i.AsOf.Asked = &at.Time
	}
	return i, nil
}

func (i *inspector) close() error {
	err := i.cluster.Close()
	i.reader.Close()
	i.tx.Rollback()
	return err
}

func (i *inspector) readFetch(ctx context.Context) error {
	f, err := schema.ReadInForce(ctx, i.tx, i.URL)
	if err != nil {
		return err
	}
	at, err := observers.FetchedAt(ctx, i.tx, i.URL)
	if err != nil {
		return err
	}
	if f != nil {
		i.Status, i.FetchedAt = f.Status, &at
	}
	last, err := observers.LastFailure(ctx, i.tx, i.URL)
	if err != nil || last == nil {
		return err
	}
	i.Failure = fmt.Sprintf("%s, at %s", last.Reason, last.Time.Format(time.RFC3339))
	if f == nil {
		i.Status = last.Status
	}
	return nil
}

func (i *inspector) readDocument(ctx context.Context) error {
	tx := i.tx
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

// readWay reads where the URL leads. If it has no terminal, the cluster becomes the URL alone.
func (i *inspector) readWay(ctx context.Context) error {
	way, err := observers.WayOf(ctx, i.tx, i.URL)
	if err != nil {
		return err
	}
	i.LeadsTo = way.LeadsTo
	if !way.HasTerminal {
		if i.Reason, err = i.whyNoTerminal(ctx); err != nil {
			return err
		}
		return i.cluster.ReadSingle(i.URL)
	}
	i.Terminal, i.Cluster = way.Terminal, hex.EncodeToString(way.Cluster[:])
	i.key, i.clustered = way.Cluster, true
	return nil
}

func (i *inspector) readCluster(ctx context.Context) error {
	if err := i.readWay(ctx); err != nil || !i.clustered {
		return err
	}
	if err := i.cluster.Read(i.key); err != nil {
		return err
	}
	i.setCanonical(i.cluster.Canonical, &i.cluster.Rank)
	return nil
}

// setCanonical sets the canonical URL and the rank of the cluster, and what follows from them.
func (i *Inspection) setCanonical(u page.URL, rank *float64) {
	i.Canonical, i.Rank = u, rank
	i.Indexed = u != "" && u == i.URL
	i.Reason = i.whyIndexed()
}

func (i *inspector) whyNoTerminal(ctx context.Context) (string, error) {
	switch i.Outcome {
	case page.Unfetched.String():
		return i.whyUnfetched(ctx)
	case page.Redirect.String():
		return "it redirects, and the redirects lead to no page", nil
	case page.Gone.String():
		return fmt.Sprintf("it is gone (HTTP status %d)", i.Status), nil
	case page.Failed.String():
		return "every fetch of it failed", nil
	}
	return i.whyNoText(ctx)
}

// whyUnfetched says why a URL has no fetch in force.
func (i *inspector) whyUnfetched(ctx context.Context) (string, error) {
	seen, err := i.tx.Get(ctx, schema.URLRow(i.URL), schema.FetchSeen)
	if err != nil {
		return "", err
	}
	if seen.Exists {
		return "only revisits of it were loaded, which have no content, and not the fetch that they repeat", nil
	}
	return "it was never fetched", nil
}

// whyNoText says why a successful response is not a page.
func (i *inspector) whyNoText(ctx context.Context) (string, error) {
	const other = "what was fetched is neither HTML nor plain text"
	if i.URL.IsRobotsTxt() {
		return page.WhyNoText(&page.Fetch{URL: i.URL}).Error(), nil
	}
	f, err := schema.ReadInForce(ctx, i.tx, i.URL)
	switch {
	case err != nil:
		return "", err
	case f == nil:
		return other, nil
	case f.IsOffice() && !f.Office:
		return "what was fetched is an office document, and the setting office was off", nil
	case f.IsPDF() && !f.Reading.Exists():
		return "what was fetched is a PDF document, and the setting pdf was off", nil
	case !f.IsOffice() && !f.IsPDF():
		return other, nil
	}
	whole, err := readCopy(ctx, i.tx, i.URL)
	if errors.Is(err, ErrNoCopy) { // verify reports this
		return other, nil
	} else if err != nil {
		return "", err
	}
	document := "an office document"
	if f.IsPDF() {
		document = "a PDF document"
	}
	return fmt.Sprintf("what was fetched is %s without a text that can be read: %v", document, page.WhyNoText(whole)), nil
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
