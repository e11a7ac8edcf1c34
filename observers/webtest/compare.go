package webtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// Differences compares what the pipeline left, in its table and in docs, with the
// batch over fetches. Each line begins with "+" (is there but must not be) or "-" (is
// missing).
func Differences(ctx context.Context, db *txn.DB, docs []*index.Document, fetches []*page.Fetch, c Comparison) ([]string, error) {
	c.Limits.Document = c.Limits.Document.WithDefaults()
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	stored := make(lines)
	for _, read := range []func(context.Context, *txn.Txn) error{
		stored.readURLs, stored.readDocs, stored.readMembers, stored.readPairs, stored.readIndexed, stored.readForms,
	} {
		if err := read(ctx, tx); err != nil {
			return nil, err
		}
	}
	b := batch.New()
	for _, f := range fetches {
		b.Add(f)
	}
	forms := make(lines)
	if c.Browser != nil {
		if forms, err = c.rendered(ctx, tx, b); err != nil {
			return nil, err
		}
	}
	want, err := b.Solve(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		stored.addDocument(c.withBestAnchors(d, want))
		if err := stored.addDocumentRank(ctx, tx, d, want); err != nil {
			return nil, err
		}
	}
	if err := stored.addRanks(ctx, tx, want); err != nil {
		return nil, err
	}
	_, err = observers.CheckSummaries(ctx, tx, c.Limits.Cluster, func(row, got, want string) {
		stored.add("member summary %s is %s, not %s", formatRow(schema.GroupSummary, row), got, want)
	})
	if err != nil {
		return nil, err
	}
	computed := c.computed(want)
	maps.Copy(computed, forms)
	if err := c.addThumbnails(ctx, tx, stored, computed); err != nil {
		return nil, err
	}
	return stored.diff(computed), nil
}

// addThumbnails adds the thumbnails of the sink, and the thumbnails in the table, which
// they must equal.
func (o Comparison) addThumbnails(ctx context.Context, tx *txn.Txn, stored, computed lines) error {
	sink, ok := o.Sink.(*Sink)
	if !ok {
		return nil
	}
	for u, image := range sink.Thumbnails() {
		stored.add("thumbnail of %s: %q", Short(u), image)
		image, err := observers.ThumbnailOf(ctx, tx, u)
		if err != nil {
			return err
		}
		computed.add("thumbnail of %s: %q", Short(u), image)
	}
	return nil
}

// Comparison says how repositories are compared.
type Comparison struct {
	Limits observers.Limits // the limits that the observers ran with
	// Browser has rendered the pages; nil: rendering is off.
	Browser *Browser
	// Sink is where the documents came from. If it is one of this package, its thumbnails are
	// compared with those in the table.
	Sink observers.Sink
}

// withBestAnchors returns a document with the anchors of the batch, as many as the document
// shows, instead of its own, if it may show those: which anchors are the best depends on the
// ranks when the document last changed. It may show any anchors that exist, in the same order.
func (o Comparison) withBestAnchors(d *index.Document, r *batch.Repository) *index.Document {
	c := r.Cluster(d.Cluster)
	if c == nil {
		return d
	}
	all := anchors(c)
	if len(all) <= o.Limits.Document.Anchors || len(d.Anchors) != o.Limits.Document.Anchors {
		return d
	}
	rest := all
	for _, a := range d.Anchors {
		i := slices.Index(rest, a)
		if i < 0 {
			return d
		}
		rest = rest[i+1:]
	}
	same := *d
	same.Anchors = all[:o.Limits.Document.Anchors]
	return &same
}

// lines is a set of statements about the repository.
type lines map[string]bool

func (l lines) add(format string, args ...any) { l[fmt.Sprintf(format, args...)] = true }

func (l lines) diff(want lines) []string {
	var out []string
	for s := range l {
		if !want[s] {
			out = append(out, "+ "+s)
		}
	}
	for s := range want {
		if !l[s] {
			out = append(out, "- "+s)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(a[2:], b[2:]), cmp.Compare(a, b)) })
	return out
}

func (l lines) addState(u page.URL, s schema.URLState) {
	l.add("state %s: %s noindex=%t nofollow=%t target=%q key=%.8s sum=%x", u, s.Outcome, s.NoIndex, s.NoFollow, s.Target, s.Key, s.Sum[:3])
}

func (l lines) addWay(u page.URL, leadsTo, terminal page.URL, cluster string) {
	if leadsTo != "" || terminal != "" {
		l.add("way %s: leads to %q, terminal %q, cluster %s", u, leadsTo, terminal, cluster)
	}
}

func (l lines) addText(u page.URL, t schema.StoredText) {
	l.add("text %s: %q %q %q %x", u, t.Title, t.Language, t.Text, t.Outline)
}

func (l lines) addLinks(what string, u page.URL, groups []schema.TargetLinks) {
	if len(groups) > 0 {
		l.add("%s %s: %q", what, u, groups)
	}
}

func (l lines) addFrames(u page.URL, frames []page.URL) {
	if len(frames) > 0 {
		l.add("frames %s: %q", u, frames)
	}
}

func (l lines) addDocument(d *index.Document) {
	l.add("document %.8s: %s %q %q %q, %d members %q, %d inlinks %v %s",
		d.Cluster, d.URL, d.Title, d.Language, d.Text, d.MembersTotal, d.Members, d.Inlinks, d.Anchors, d.FetchedAt)
}

func (l lines) readURLs(ctx context.Context, tx *txn.Txn) error {
	return tx.Scan(ctx, schema.GroupURL, "", "", func(row string, cols []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		for _, c := range cols {
			switch c.Name {
			case schema.State.Name:
				s, err := schema.DecodeURLState(c.Data)
				if err != nil {
					return err
				}
				l.addState(u, s)
			case schema.Chain.Name:
				chain, err := schema.DecodeChain(c.Data)
				if err != nil {
					return err
				}
				way := observers.WayOfChain(chain)
				l.addWay(u, way.LeadsTo, way.Terminal, fmt.Sprintf("%.8s", way.Cluster))
			default:
				l.add("left over %s: %s", u, c.Name)
			}
		}
		return nil
	})
}

func (l lines) readDocs(ctx context.Context, tx *txn.Txn) error {
	return tx.Scan(ctx, schema.GroupDoc, "", "", func(row string, cols []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		for _, c := range cols {
			if c.Name == schema.Text.Name {
				t, err := schema.DecodeText(c.Data)
				if err != nil {
					return err
				}
				l.addText(u, t)
				continue
			}
			if c.Name == schema.Frames.Name {
				frames, err := schema.DecodeURLs(c.Data)
				if err != nil {
					return err
				}
				l.addFrames(u, frames)
				continue
			}
			list, part := linkColumn(c.Name)
			if part > 0 {
				if len(schema.PartsIn(list, cols)) <= part {
					l.add("left over %s: %s", u, c.Name)
				}
				continue // the list was read with part 0
			}
			groups, err := schema.DecodeLinkParts(schema.PartsIn(list, cols))
			if err != nil {
				return err
			}
			l.addLinks(c.Name, u, groups)
		}
		return nil
	})
}

// linkColumn says which list of links a column of the document group is a part of.
func linkColumn(name string) (txn.Column, int) {
	for _, c := range []txn.Column{schema.Links, schema.Inverted, schema.Inverting} {
		if i, ok := schema.PartNumber(c, name); ok {
			return c, i
		}
	}
	return txn.Column{Group: schema.GroupDoc, Name: name}, 0
}

func (l lines) readMembers(ctx context.Context, tx *txn.Txn) error {
	return tx.Scan(ctx, schema.GroupMember, "", "", func(row string, _ []txn.Version) error {
		k, m, err := schema.ParseMemberRow(row)
		l.add("member %.8s: %s eligible=%t", k, m.URL, m.Eligible)
		return err
	})
}

func (l lines) readPairs(ctx context.Context, tx *txn.Txn) error {
	for _, group := range []string{schema.GroupPointer, schema.GroupLink} {
		err := tx.Scan(ctx, group, "", "", func(row string, cols []txn.Version) error {
			target, source, err := schema.ParsePairRow(row)
			if err != nil {
				return err
			}
			var anchors []string
			if group == schema.GroupLink {
				anchors, err = schema.AnchorsIn(cols)
			}
			l.add("%s %s -> %s: %q", group, source, target, anchors)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (l lines) readIndexed(ctx context.Context, tx *txn.Txn) error {
	return tx.Scan(ctx, schema.GroupIndex, "", "", func(row string, cols []txn.Version) error {
		k, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		d, err := schema.DecodeIndexed(cols[0].Data)
		l.add("indexed %.8s: %s, %d members, %d inlinks", k, d.URL, d.Members, d.Inlinks)
		return err
	})
}

// computed returns what must be there.
func (o Comparison) computed(r *batch.Repository) lines {
	want := make(lines)
	clusters := make(map[page.ContentKey]*batch.Cluster)
	for u := range r.URLs() {
		want.addURL(u)
		if u.Cluster != nil {
			clusters[u.Cluster.Key] = u.Cluster
		}
	}
	for c := range maps.Values(clusters) {
		o.addCluster(want, r, c)
	}
	return want
}

func (l lines) addURL(u *batch.URL) {
	d := &u.Document
	if d.Outcome == page.Unfetched || d.Outcome == page.Failed {
		return
	}
	cluster := strings.Repeat("0", 8)
	if u.Cluster != nil {
		cluster = fmt.Sprintf("%.8s", u.Cluster.Key)
		l.add("member %.8s: %s eligible=%t", u.Cluster.Key, u.URL, u.Eligible())
	}
	l.addState(u.URL, schema.NewURLState(d))
	l.addWay(u.URL, u.Lead, u.Terminal, cluster)
	if d.Target != "" {
		l.add("%s %s -> %s: %q", schema.GroupPointer, u.URL, d.Target, []string(nil))
	}
	if d.Outcome != page.Page {
		return
	}
	l.addText(u.URL, schema.NewStoredText(d))
	l.addFrames(u.URL, d.Frames)
	groups := schema.GroupLinks(d.Links)
	l.addLinks(schema.Links.Name, u.URL, groups)
	l.addLinks(schema.Inverted.Name, u.URL, groups)
	for _, g := range groups {
		l.add("%s %s -> %s: %q", schema.GroupLink, u.URL, g.Target, g.Anchors)
	}
}

func (o Comparison) addCluster(l lines, r *batch.Repository, c *batch.Cluster) {
	if c.Canonical == "" {
		return
	}
	l.add("indexed %.8s: %s, %d members, %d inlinks", c.Key, c.Canonical, len(c.Members), len(c.Inlinks))
	u := r.URL(c.Canonical)
	l.addDocument(&index.Document{
		Cluster: c.Key, URL: c.Canonical, Title: u.Document.Title, Text: u.Document.Text, Language: u.Document.Language,
		FetchedAt: u.FetchedAt, Members: r.ShownMembers(c, o.Limits.Document.Members), MembersTotal: len(c.Members),
		Anchors: o.best(anchors(c)), Inlinks: len(c.Inlinks),
	})
}

func (o Comparison) best(all []index.Anchor) []index.Anchor {
	return all[:min(len(all), o.Limits.Document.Anchors)]
}

func anchors(c *batch.Cluster) []index.Anchor {
	var list []index.Anchor
	for _, a := range c.Anchors() {
		list = append(list, index.Anchor(a))
	}
	return list
}
