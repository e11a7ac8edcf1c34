package web

import (
	"context"
	"errors"
	"fmt"

	"indexer/crawler/frontier"
	"indexer/page"
	"indexer/repository"
	"indexer/txn"
)

// Local is the Inspector of a process that has the repository open.
type Local struct{ Repo *repository.Repository }

// Inspect returns [repository.Repository.OverviewAt] together with the crawl's view of
// the URL and, for the present only, since when it has been searchable.
func (l Local) Inspect(ctx context.Context, u page.URL, w repository.Windows, at repository.Moment) (*Details, error) {
	var visits *frontier.Inspection
	o, err := l.Repo.OverviewAt(ctx, u, w, at, func(tx *txn.Txn) (err error) {
		if !at.IsNow() {
			visits, err = frontier.InspectAt(ctx, tx, u)
		}
		return err
	})
	var gone *repository.NotKeptError
	switch {
	case errors.As(err, &gone):
		err = fmt.Errorf("%w: %w", ErrNotThen, gone)
	case errors.Is(err, repository.ErrFuture):
		err = fmt.Errorf("%w: %w", ErrNotThen, repository.ErrFuture)
	}
	if err != nil || !at.IsNow() {
		return &Details{Overview: o, Crawl: visits}, err
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

// Copy is [repository.Repository.Copy].
func (l Local) Copy(ctx context.Context, u page.URL, at uint64) (*page.Fetch, error) {
	return l.Repo.Copy(ctx, u, at)
}

// Versions is [repository.Repository.Versions].
func (l Local) Versions(ctx context.Context, u page.URL) ([]repository.PageVersion, error) {
	return l.Repo.Versions(ctx, u)
}

// Stats is [repository.Repository.Stats].
func (l Local) Stats(ctx context.Context) (*repository.Stats, error) { return l.Repo.Stats(ctx) }
