package cli

import (
	"context"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/web"
)

// A standby is the web.Inspector of its server: the current place answers each question.
var _ web.Inspector = (*standby)(nil)

// askPlace is st.ask for a question with an answer.
func askPlace[T any](ctx context.Context, st *standby, question func(context.Context, web.Inspector) (T, error)) (answer T, err error) {
	err = st.ask(ctx, func(ctx context.Context, i web.Inspector) (err error) {
		answer, err = question(ctx, i)
		return err
	})
	return answer, err
}

func (st *standby) Inspect(ctx context.Context, u page.URL, w inspect.Windows, at snapshot.Moment) (*web.Details, error) {
	return askPlace(ctx, st, func(ctx context.Context, i web.Inspector) (*web.Details, error) { return i.Inspect(ctx, u, w, at) })
}

func (st *standby) Copy(ctx context.Context, u page.URL, at uint64) (*page.Fetch, error) {
	return askPlace(ctx, st, func(ctx context.Context, i web.Inspector) (*page.Fetch, error) { return i.Copy(ctx, u, at) })
}

func (st *standby) Versions(ctx context.Context, u page.URL) ([]inspect.PageVersion, error) {
	return askPlace(ctx, st, func(ctx context.Context, i web.Inspector) ([]inspect.PageVersion, error) { return i.Versions(ctx, u) })
}

func (st *standby) Text(ctx context.Context, u page.URL, at uint64) (*inspect.PageText, error) {
	return askPlace(ctx, st, func(ctx context.Context, i web.Inspector) (*inspect.PageText, error) { return i.Text(ctx, u, at) })
}

func (st *standby) Picture(ctx context.Context, u page.URL, at uint64, thumbnail bool) ([]byte, error) {
	return askPlace(ctx, st, func(ctx context.Context, i web.Inspector) ([]byte, error) { return i.Picture(ctx, u, at, thumbnail) })
}

func (st *standby) Pictured(ctx context.Context, urls []page.URL) ([]page.URL, error) {
	return askPlace(ctx, st, func(ctx context.Context, i web.Inspector) ([]page.URL, error) { return i.Pictured(ctx, urls) })
}

func (st *standby) Icons(ctx context.Context, urls []page.URL) ([]inspect.SiteIcon, error) {
	return askPlace(ctx, st, func(ctx context.Context, i web.Inspector) ([]inspect.SiteIcon, error) { return i.Icons(ctx, urls) })
}

func (st *standby) Icon(ctx context.Context, u page.URL) ([]byte, error) {
	return askPlace(ctx, st, func(ctx context.Context, i web.Inspector) ([]byte, error) { return i.Icon(ctx, u) })
}

func (st *standby) Stats(ctx context.Context) (*repository.Stats, error) {
	return askPlace(ctx, st, func(ctx context.Context, i web.Inspector) (*repository.Stats, error) { return i.Stats(ctx) })
}
