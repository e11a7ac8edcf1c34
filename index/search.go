package index

import (
	"context"
	"errors"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// Search finds documents; package query has the syntax of queries. A query that cannot be
// run gives a [search.UsageError]. No query makes SQLite fail.
func (v *View) Search(ctx context.Context, q string, opts search.Options) (*search.Results, error) {
	res, err := search.Run(ctx, &viewShard{v: v}, v.names, q, opts)
	return res, v.explain("search", err)
}

// Search is [View.Search] on the newest state.
func (r *Reader) Search(ctx context.Context, query string, opts search.Options) (*search.Results, error) {
	return inView(ctx, r, func(v *View) (*search.Results, error) { return v.Search(ctx, query, opts) })
}

// Filters counts documents by site and by language.
func (v *View) Filters(ctx context.Context) (search.Filters, error) {
	list, err := search.FiltersOf(ctx, &viewShard{v: v})
	return list, v.explain("filters", err)
}

// Filters is [View.Filters] of the newest state.
func (r *Reader) Filters(ctx context.Context) (search.Filters, error) {
	return inView(ctx, r, func(v *View) (search.Filters, error) { return v.Filters(ctx) })
}

// Similar lists the pages whose main content is similar to that of the document with a URL,
// or with a member of that URL. It reads and compares the sketches of all documents, one
// after the other. Errors: [search.ErrNotIndexed].
func (v *View) Similar(ctx context.Context, u page.URL, opts search.SimilarOptions) (*search.SimilarPages, error) {
	res, err := search.Similar(ctx, &viewShard{v: v}, u, opts)
	return res, v.explain("find similar pages", err)
}

// Similar is [View.Similar] on the newest state.
func (r *Reader) Similar(ctx context.Context, u page.URL, opts search.SimilarOptions) (*search.SimilarPages, error) {
	return inView(ctx, r, func(v *View) (*search.SimilarPages, error) { return v.Similar(ctx, u, opts) })
}

// Complete finds completions, best first. They may be those of an earlier state of the index,
// and there are none while they are being collected for the first time ([completions]).
func (v *View) Complete(ctx context.Context, q search.CompletionQuestion) ([]search.Completion, error) {
	list, err := search.Complete(ctx, &viewShard{v: v}, q)
	return list, v.explain("complete a query", err)
}

// Complete is [View.Complete] on the newest state.
func (r *Reader) Complete(ctx context.Context, q search.CompletionQuestion) ([]search.Completion, error) {
	return inView(ctx, r, func(v *View) ([]search.Completion, error) { return v.Complete(ctx, q) })
}

// explain says what failed on which index, unless the question is at fault.
func (v *View) explain(what string, err error) error {
	if _, usage := errors.AsType[*search.UsageError](err); err == nil || usage || errors.Is(err, search.ErrNotIndexed) {
		return err
	}
	return explain(v.dir, v.path, what, err)
}
