package web

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// Local is the Inspector of a process that has the repository open.
type Local struct{ Repo *repository.Repository }

// Inspect returns [inspect.ReadOverview] together with the crawl's view of
// the URL and, for the present only, since when it has been searchable.
func (l Local) Inspect(ctx context.Context, u page.URL, w inspect.Windows, at snapshot.Moment) (*Details, error) {
	var visits *frontier.Inspection
	past := func(tx *txn.Txn) (err error) {
		if !at.IsNow() {
			visits, err = frontier.InspectAt(ctx, tx, u)
		}
		return err
	}
	o, err := inspect.ReadOverview(ctx, l.Repo, u, inspect.OverviewOptions{Windows: w, At: at, More: past})
	if gone, ok := errors.AsType[*snapshot.NotKeptError](err); ok {
		return nil, fmt.Errorf("%w: %w", ErrNotThen, gone)
	}
	if errors.Is(err, snapshot.ErrFuture) {
		return nil, fmt.Errorf("%w: %w", ErrNotThen, snapshot.ErrFuture)
	}
	if err != nil {
		return nil, err
	}
	if !at.IsNow() {
		return &Details{Overview: o, Crawl: visits}, nil
	}
	if visits, err = frontier.Inspect(ctx, l.Repo.DB(), u); err != nil {
		return nil, err
	}
	fresh, err := l.Repo.Freshness(ctx, u)
	if err != nil {
		return nil, err
	}
	return &Details{Overview: o, Freshness: fresh, Crawl: visits}, nil
}

// Copy is [inspect.Copy].
func (l Local) Copy(ctx context.Context, u page.URL, at uint64) (*page.Fetch, error) {
	return inspect.Copy(ctx, l.Repo.DB(), u, at)
}

// Versions is [inspect.Versions].
func (l Local) Versions(ctx context.Context, u page.URL) ([]inspect.PageVersion, error) {
	return inspect.Versions(ctx, l.Repo.DB(), u)
}

// Stats is [repository.Repository.Stats].
func (l Local) Stats(ctx context.Context) (*repository.Stats, error) { return l.Repo.Stats(ctx) }

// Text implements Inspector.
func (l Local) Text(ctx context.Context, u page.URL, at uint64) (*inspect.PageText, error) {
	return inspect.Text(ctx, l.Repo.DB(), u, at)
}

// Picture implements Inspector.
func (l Local) Picture(ctx context.Context, u page.URL, at uint64, thumbnail bool) ([]byte, error) {
	return inspect.Picture(ctx, l.Repo.DB(), u, at, thumbnail)
}

// Pictured implements Inspector.
func (l Local) Pictured(ctx context.Context, urls []page.URL) ([]page.URL, error) {
	return inspect.Pictured(ctx, l.Repo.DB(), urls)
}

// Icons is [inspect.Icons].
func (l Local) Icons(ctx context.Context, urls []page.URL) ([]inspect.SiteIcon, error) {
	return inspect.Icons(ctx, l.Repo.DB(), urls)
}

// Icon is [inspect.Icon].
func (l Local) Icon(ctx context.Context, u page.URL) ([]byte, error) {
	return inspect.Icon(ctx, l.Repo.DB(), u)
}
