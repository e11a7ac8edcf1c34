package web

import (
	"context"
	"errors"

	"indexer/frontier"
	"indexer/index"
	"indexer/page"
	"indexer/repository"
)

// Searcher answers queries; *index.Reader is one.
type Searcher interface {
	Search(ctx context.Context, query string, opts index.Options) (*index.Results, error)
	Count(ctx context.Context) (int, error)
	// Filters are the sites and languages that are there.
	Filters(ctx context.Context) (index.Filters, error)
}

// Details are everything known of a URL, in the JSON of `indexer inspect` and with
// the lengths of the lists, which are windows.
type Details struct {
	*repository.Overview
	repository.Freshness
	Crawl *frontier.Inspection `json:"crawl,omitempty"`
}

// Inspector knows of URLs what the index does not: this process if it holds the data
// directory, or another one that is asked. An error that matches ErrElsewhere says
// that it cannot be told just now.
type Inspector interface {
	// Inspect tells what is known of a URL as of a moment. An error that matches
	// ErrNotThen says that this moment cannot be told of.
	Inspect(ctx context.Context, u page.URL, w repository.Windows, at repository.Moment) (*Details, error)
	// Copy is what was fetched of a URL, as of a commit timestamp, 0 for now; an error
	// that matches repository.ErrNoCopy if there is none.
	Copy(ctx context.Context, u page.URL, at uint64) (*page.Fetch, error)
	Versions(ctx context.Context, u page.URL) ([]repository.PageVersion, error)
	Stats(ctx context.Context) (*repository.Stats, error)
}

// ErrNotThen: the moment that was asked for is not kept any more, or is still to come. What
// is wrapped beside it is for whoever asked.
var ErrNotThen = errors.New("nothing can be told of that moment")

// ErrElsewhere: another process holds the data directory, and did not answer.
var ErrElsewhere = errors.New("another process holds the data directory, and details are with it")
