package web

import (
	"context"
	"errors"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
)

// Searcher answers queries; *index.Reader is one.
type Searcher interface {
	Search(ctx context.Context, query string, opts search.Options) (*search.Results, error)
	Count(ctx context.Context) (int, error)
	// Filters returns the sites and languages that the index has.
	Filters(ctx context.Context) (search.Filters, error)
	// Complete returns texts that complete typed text; none if the index cannot.
	Complete(ctx context.Context, q search.CompletionQuestion) ([]search.Completion, error)
	// Similar lists the pages whose main content is like that of a document. An error that
	// matches search.ErrNotIndexed says that there is no such document.
	Similar(ctx context.Context, u page.URL, opts search.SimilarOptions) (*search.SimilarPages, error)
}

// Thumbnails is a Searcher whose index has thumbnails of its documents, by their canonical URLs;
// *index.Reader is one. Without it, the Inspector is asked for them.
type Thumbnails interface {
	// Pictured returns those of some URLs that have a thumbnail.
	Pictured(ctx context.Context, urls []page.URL) ([]page.URL, error)
	// Thumbnail returns a thumbnail; nil if there is none.
	Thumbnail(ctx context.Context, u page.URL) ([]byte, error)
}

// Details is everything known about a URL. The JSON is that of `indexer inspect`, plus
// the lengths of the lists, of which it holds windows.
type Details struct {
	*inspect.Overview
	repository.Freshness
	Crawl *frontier.Inspection `json:"crawl,omitempty"`
}

// Inspector knows what the store holds about URLs. It reads the store of this process or
// asks the process that holds the data directory; an error that matches ErrElsewhere says
// that this process did not answer.
type Inspector interface {
	// Inspect returns what was known about a URL at a moment. An error that matches
	// ErrNotThen says that this moment is not available.
	Inspect(ctx context.Context, u page.URL, w inspect.Windows, at snapshot.Moment) (*Details, error)
	// Copy returns the fetch of a URL as of a commit timestamp, 0 for now. An error that
	// matches inspect.ErrNoCopy says that there is none.
	Copy(ctx context.Context, u page.URL, at uint64) (*page.Fetch, error)
	// Versions returns the stored versions of a URL, newest first.
	Versions(ctx context.Context, u page.URL) ([]inspect.PageVersion, error)
	// Stats returns the counts of `indexer stats`.
	Stats(ctx context.Context) (*repository.Stats, error)
	// Text returns the title and text of a page as of a commit timestamp, 0 for now, with the
	// errors of Copy.
	Text(ctx context.Context, u page.URL, at uint64) (*inspect.PageText, error)
	// Picture returns the screenshot of a page as of a commit timestamp, 0 for now, or its
	// thumbnail. An error that matches inspect.ErrNoPicture says that there is none.
	Picture(ctx context.Context, u page.URL, at uint64, thumbnail bool) ([]byte, error)
	// Pictured returns those of some URLs that have a thumbnail now. An error that matches
	// inspect.ErrNotRendering says that no pages are rendered.
	Pictured(ctx context.Context, urls []page.URL) ([]page.URL, error)
	// Icons returns the icons of the sites of some URLs, in the same order.
	Icons(ctx context.Context, urls []page.URL) ([]inspect.SiteIcon, error)
	// Icon returns the image of the icon of a URL's site. An error that matches
	// inspect.ErrNoIcon says that there is none.
	Icon(ctx context.Context, u page.URL) ([]byte, error)
}

// ErrNotThen says that a moment is in the future, or so old that its state is no longer
// kept. The error that is wrapped with it is for the client.
var ErrNotThen = errors.New("that moment is not available")

// ErrNotOpen says that no process holds the data directory, because it cannot be opened.
var ErrNotOpen = errors.New("the data directory cannot be opened")

// ErrElsewhere says that another process holds the data directory and did not answer.
var ErrElsewhere = errors.New("another process holds the data directory and did not answer")
