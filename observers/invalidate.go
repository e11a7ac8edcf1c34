package observers

import (
	"context"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// invalidateChunk bounds how many pages one run wakes.
const invalidateChunk = 500

// invalidate tells the pages that need a URL that its fetch has changed.
//
//	watches  render:changed (weak)
//	reads    pair rows of the URL (need:x), render:told
//	writes   render:told, while there is more to do
//	wakes    render (weak) of each page that needs the URL; itself (weak), to continue
//
// A style sheet that 100,000 pages need is handled in bounded transactions, like the chain that
// 100,000 URLs lead to (propagate). But here the next run is not a continuation: it waits for its
// debounce, or until render has nothing left to do. So at most about 500 pages of a style sheet
// are ahead of a new page, and render handles the rest in idle time, or a part per debounce.
func invalidate(ctx context.Context, tx *txn.Txn, rows []string) error {
	return resourceSpread.run(ctx, tx, rows)
}

var resourceSpread = spread{
	changed: schema.FetchContent, cursor: schema.Invalidated, again: schema.ResourceChanged,
	group: schema.GroupNeed, wake: schema.RenderWake, chunk: invalidateChunk,
}

// interpretRendered does what interpret does while the setting of rendering is on: the
// document comes from the page's form if it has one. It wakes render if the form is
// missing, belongs to another fetch or should not exist, and invalidate if pages need the
// URL. The comment on renderer proves that this is sufficient.
//
// A form of an earlier fetch of the page counts until render has replaced it, so that a page
// that changes does not lose its text for a moment.
func interpretRendered(ctx context.Context, tx *txn.Txn, setting schema.RenderSetting, u page.URL) (*page.Document, error) {
	f, err := readFetch(ctx, tx, u)
	if err != nil || f == nil {
		return nil, err
	}
	row := schema.URLRow(u)
	if err := wakeIfNeeded(ctx, tx, row); err != nil {
		return nil, err
	}
	doc, found := page.Examine(&f.Fetch)
	why := setting.Qualifies(&doc, found)
	form, exists, err := readForm(ctx, tx, row)
	if err != nil {
		return nil, err
	}
	if (why != "") != exists || exists && (form.Page != f.Content || form.Why != why) {
		tx.Notify(row, schema.RenderWake)
	}
	if why != "" && (!exists || form.Page != f.Content) {
		tx.Notify(row, schema.Prefetch)
	}
	if why != "" && form.HTML != nil {
		doc = page.InterpretForm(&f.Fetch, &doc, form.HTML)
	}
	return &doc, nil
}

// wakeIfNeeded wakes invalidate at a URL that a page needs. This run began after the fetch of
// the URL changed, so it finds the pair rows that it has to find.
func wakeIfNeeded(ctx context.Context, tx *txn.Txn, row string) error {
	return tx.Scan(ctx, schema.GroupNeed, row+"\x00", txn.PrefixEnd(row+"\x00"), func(string, []txn.Version) error {
		tx.Notify(row, schema.ResourceChanged)
		return txn.ErrStop
	})
}
