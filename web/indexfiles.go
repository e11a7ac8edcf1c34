package web

import (
	"context"
	"errors"
	"sync"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// IndexFiles is a Searcher for as long as a server runs. When the files are replaced,
// it switches to the new ones, after queries in progress on the old ones have ended. It is
// safe for concurrent use.
type IndexFiles struct {
	open func() (*index.Reader, error)
	log  *zap.Logger

	mu      sync.Mutex
	current *openedIndex
	failed  string // why the new files could not be opened, to log each reason once
}

// openedIndex is a reader with the number of its users. IndexFiles counts as one.
type openedIndex struct {
	*index.Reader
	users int
}

// OpenIndexFiles opens the index files with open, now and whenever they were replaced.
func OpenIndexFiles(open func() (*index.Reader, error), log *zap.Logger) (*IndexFiles, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	return &IndexFiles{open: open, log: log, current: &openedIndex{r, 1}}, nil
}

// Search implements [Searcher].
func (f *IndexFiles) Search(ctx context.Context, query string, opts search.Options) (*search.Results, error) {
	return use(f, func(r *index.Reader) (*search.Results, error) { return r.Search(ctx, query, opts) })
}

// Count implements [Searcher].
func (f *IndexFiles) Count(ctx context.Context) (int, error) {
	return use(f, func(r *index.Reader) (int, error) { return r.Count(ctx) })
}

// Filters implements [Searcher].
func (f *IndexFiles) Filters(ctx context.Context) (search.Filters, error) {
	return use(f, func(r *index.Reader) (search.Filters, error) { return r.Filters(ctx) })
}

// Complete implements [Searcher].
func (f *IndexFiles) Complete(ctx context.Context, q search.CompletionQuestion) ([]search.Completion, error) {
	return use(f, func(r *index.Reader) ([]search.Completion, error) { return r.Complete(ctx, q) })
}

// Similar implements [Searcher].
func (f *IndexFiles) Similar(ctx context.Context, u page.URL, opts search.SimilarOptions) (*search.SimilarPages, error) {
	return use(f, func(r *index.Reader) (*search.SimilarPages, error) { return r.Similar(ctx, u, opts) })
}

// Pictured implements [Thumbnails].
func (f *IndexFiles) Pictured(ctx context.Context, urls []page.URL) ([]page.URL, error) {
	return use(f, func(r *index.Reader) ([]page.URL, error) { return r.Pictured(ctx, urls) })
}

// Thumbnail implements [Thumbnails].
func (f *IndexFiles) Thumbnail(ctx context.Context, u page.URL) ([]byte, error) {
	return use(f, func(r *index.Reader) ([]byte, error) { return r.Thumbnail(ctx, u) })
}

// Ready returns an error if the index cannot be searched.
func (f *IndexFiles) Ready(ctx context.Context) error {
	_, err := use(f, func(r *index.Reader) (struct{}, error) { return struct{}{}, r.Ready(ctx) })
	return err
}

// use asks the current files, and new ones if these were replaced meanwhile.
func use[T any](f *IndexFiles, ask func(*index.Reader) (T, error)) (T, error) {
	r := f.take()
	answer, err := ask(r.Reader)
	if err != nil && r.Replaced() {
		// A rebuild has ended meanwhile and removed the files that the reader tried to reopen.
		now := f.take()
		if now != r {
			answer, err = ask(now.Reader)
		}
		err = errors.Join(err, f.giveBack(now))
	}
	return answer, errors.Join(err, f.giveBack(r))
}

// take returns the current files. If new files cannot be opened, it returns the old ones.
func (f *IndexFiles) take() *openedIndex {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current.Replaced() {
		f.renew()
	}
	f.current.users++
	return f.current
}

// renew switches to the new files. The caller holds mu.
func (f *IndexFiles) renew() {
	r, err := f.open()
	if err != nil {
		if reason := err.Error(); reason != f.failed {
			f.failed = reason
			f.log.Warn("the index files were replaced, but the new ones cannot be opened; the old ones are still searched", zap.Error(err))
		}
		return
	}
	old := f.current
	f.current, f.failed = &openedIndex{r, 1}, ""
	if err := old.leave(); err != nil {
		f.log.Warn("close the index files that were replaced", zap.Error(err))
	}
}

func (f *IndexFiles) giveBack(r *openedIndex) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return r.leave()
}

// Close closes the files after their last user.
func (f *IndexFiles) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current.leave()
}

// leave closes the reader after its last user.
func (o *openedIndex) leave() error {
	if o.users--; o.users > 0 {
		return nil
	}
	return o.Reader.Close()
}
