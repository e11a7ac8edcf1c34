package observers

import (
	"bytes"
	"context"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// interpreter is the observer document, which interprets fetched pages.
//
//	watches  fetch:content
//	reads    fetch:content, body:body of the URL; its own results of the last run; app:render
//	         and, unless that is off, render:form and the pair rows of the URL (need:x)
//	writes   doc:text, doc:links, doc:frames, url:state; the pointer row at the URL's target;
//	         what cluster and links write, where it does their work at once (atonce.go)
//	wakes    links (doc:links), cluster (url:state); rank (weak) when the URL passes rank to
//	         other URLs than before; in a crawl discover (weak) when the URL leads elsewhere
//	         than before or has other frames; index (weak) of the page's own cluster when
//	         the URL was known before; those that cluster and links would wake; unless
//	         rendering is off, render (weak) and invalidate (weak), and in a crawl prefetch (weak)
//	         (interpretRendered)
//
// It writes only what has changed: if only meaningless bytes of a page have changed, it
// wakes only index, which updates the time that is shown.
//
// # Why index is woken whatever has changed
//
// An index document shows the text and fetch time of a member that is its own terminal, and
// the member rows say of which one. They may change later than the text. cluster changes
// them, and wakes index for every change, but not for a change that was taken back before
// cluster saw it: content A, then B, then A again is not a change to cluster, while index,
// woken for another reason at the right moment, has shown the text of B under the key of A.
// Checking here whether the URL is a member does not help: a run of cluster that saw the
// first A may commit between this read and this commit.
//
// So let D be the last commit of this observer for a page with the content key k, and M the
// last commit that made the URL a member of k. If D <= M, index is woken at M (by cluster, or by this
// observer at D = M), and that run sees the text of D. If M < D, the run of M saw an earlier state of the
// URL, or wrote it, so the URL was known at D, and index is woken at D. The cost is the export of an
// unchanged text, for which the index files rewrite only a small row.
type interpreter struct {
	part    schema.PartSize
	tracker *Tracker
	atOnce  int // Limits.AtOnce
	pages   *page.Interpreter
}

// rememberedBodies bounds, in bytes, what document remembers of the contents of recent bodies.
const rememberedBodies = 4 << 20

func (x *interpreter) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	left := x.atOnce
	setting, err := schema.ReadRender(ctx, tx)
	if err != nil {
		return err
	}
	return each(rows, func(row string) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		var doc *page.Document
		if setting.Mode() == schema.RenderOff {
			doc, err = x.interpret(ctx, tx, u)
		} else {
			doc, err = interpretRendered(ctx, tx, setting, u)
		}
		if err != nil || doc == nil {
			return err
		}
		if doc.Outcome != page.Page || doc.NoIndex {
			x.tracker.dismiss(row)
		}
		if doc.Outcome == page.Other {
			if err := x.tracker.unreadable.note(ctx, tx, u); err != nil {
				return err
			}
		}
		return x.write(ctx, tx, u, doc, &left)
	})
}

// interpret interprets the fetch in force of a URL, or returns nil if there is none. The
// body is in memory only while it is interpreted.
func (x *interpreter) interpret(ctx context.Context, tx *txn.Txn, u page.URL) (*page.Document, error) {
	f, err := schema.ReadInForce(ctx, tx, u)
	if err != nil || f == nil {
		return nil, err
	}
	doc, err := x.pages.Interpret(&f.Fetch, f.Sum, func(use func([]byte)) error {
		body, err := tx.GetOnce(ctx, schema.URLRow(u), schema.Body) // large, and read only once
		switch {
		case err != nil:
			return err
		case !body.Exists:
			use(nil)
			return nil
		}
		return schema.ReadBody(body.Data, use)
	})
	return &doc, err
}

// write writes what has changed; left is how many link rows this run may still write.
func (x *interpreter) write(ctx context.Context, tx *txn.Txn, u page.URL, doc *page.Document, left *int) error {
	row := schema.URLRow(u)
	old, existed, err := readState(ctx, tx, row)
	if err != nil {
		return err
	}
	now := schema.NewURLState(doc)
	// The state is written whenever anything else is. So if there is no state, there are
	// no links and no frames to compare with.
	if existed {
		err = x.updateLists(ctx, tx, row, doc)
	} else {
		x.createLists(tx, u, doc, left)
	}
	if err != nil {
		return err
	}
	if existed && now.Outcome == page.Page {
		tx.Notify(schema.ClusterRow(now.Key), schema.Dirty)
	}
	if existed && old == now {
		return nil
	}
	tx.Set(row, schema.State, now.Encode())
	if redirectTarget(old) != redirectTarget(now) {
		tx.Notify(row, schema.Push)
	}
	writePointer(tx, u, old.Target, now.Target)
	if x.atOnce >= 0 {
		if err := resolveAtOnce(ctx, tx, u, now, existed); err != nil {
			return err
		}
	}
	// A crawl compares pages whose URLs differ only in a query parameter.
	differs := u.Query() != "" && (old.Outcome != now.Outcome || old.Key != now.Key)
	if differs || now.Target != "" && now.Target != old.Target {
		tx.Notify(row, schema.Discover)
	}
	return writeText(tx, row, doc, old, now)
}

// writeText writes the text of a page if it has changed. A text that could not be read again is an
// error: it may be longer than the body, whose character set may be shorter than UTF-8.
func writeText(tx *txn.Txn, row string, doc *page.Document, old, now schema.URLState) error {
	isPage, wasPage := now.Outcome == page.Page, old.Outcome == page.Page
	if wasPage && !isPage {
		tx.Delete(row, schema.Text)
	}
	if !isPage || wasPage && old.Sum == now.Sum {
		return nil
	}
	text := schema.NewStoredText(doc)
	if err := text.CheckSize(); err != nil {
		return err
	}
	if wasPage {
		tx.Set(row, schema.Text, text.Encode())
	} else {
		tx.Create(row, schema.Text, text.Encode())
	}
	return nil
}

func redirectTarget(s schema.URLState) page.URL {
	if s.Outcome != page.Redirect {
		return ""
	}
	return s.Target
}

// createLists writes the links and frames of a URL that has none yet.
func (x *interpreter) createLists(tx *txn.Txn, u page.URL, doc *page.Document, left *int) {
	row, links := schema.URLRow(u), schema.GroupLinks(doc.Links)
	parts := schema.EncodeLinkParts(links, x.part)
	for i, part := range parts {
		tx.Create(row, schema.Part(schema.Links, i), part)
		tx.Notify(row, schema.Push)
	}
	if len(parts) == 1 && len(links) <= *left {
		*left -= len(links)
		invertAtOnce(tx, u, links, parts[0])
	}
	if len(doc.Frames) > 0 {
		tx.Create(row, schema.Frames, schema.EncodeURLs(doc.Frames))
		tx.Notify(row, schema.Discover)
	}
}

// updateLists writes the links and frames of a page that have changed.
func (x *interpreter) updateLists(ctx context.Context, tx *txn.Txn, row string, doc *page.Document) error {
	if err := x.writeLinks(ctx, tx, row, doc); err != nil {
		return err
	}
	return writeFrames(ctx, tx, row, doc)
}

// writeLinks writes the parts of the page's links that have changed.
func (x *interpreter) writeLinks(ctx context.Context, tx *txn.Txn, row string, doc *page.Document) error {
	parts := schema.EncodeLinkParts(schema.GroupLinks(doc.Links), x.part)
	first, err := tx.Get(ctx, row, schema.Links)
	switch {
	case err != nil:
		return err
	case len(parts) == 0 && !first.Exists,
		len(parts) == 1 && first.Exists && bytes.Equal(parts[0], first.Data): // this part says that there are no further parts
		return nil
	}
	old, err := openLinks(ctx, tx, row, schema.Links)
	if err != nil {
		return err
	}
	changed, err := old.replace(ctx, parts)
	if changed {
		tx.Notify(row, schema.Push)
	}
	return err
}

// writeFrames stores the frames for discover, which alone follows them: rank, links and
// index do not.
func writeFrames(ctx context.Context, tx *txn.Txn, row string, doc *page.Document) error {
	old, err := tx.Get(ctx, row, schema.Frames)
	if err != nil {
		return err
	}
	if len(doc.Frames) == 0 {
		if old.Exists {
			tx.Delete(row, schema.Frames)
		}
		return nil
	}
	if frames := schema.EncodeURLs(doc.Frames); !old.Exists || !bytes.Equal(frames, old.Data) {
		tx.Set(row, schema.Frames, frames)
		tx.Notify(row, schema.Discover)
	}
	return nil
}

// writePointer keeps the pointer row, which spread finds, in step with the target.
func writePointer(tx *txn.Txn, u, old, now page.URL) {
	if old == now {
		return
	}
	if old != "" {
		tx.Delete(schema.PairRow(old, u), schema.Pointer)
	}
	if now != "" {
		tx.Create(schema.PairRow(now, u), schema.Pointer, nil)
	}
}
