package web

import (
	"context"
	"errors"
	"sync"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
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
func (f *IndexFiles) Search(ctx context.Context, query string, opts index.Options) (res *index.Results, err error) {
	err = f.use(func(r *index.Reader) error {
		res, err = r.Search(ctx, query, opts)
		return err
	})
	return res, err
}

// Count implements [Searcher].
func (f *IndexFiles) Count(ctx context.Context) (n int, err error) {
	err = f.use(func(r *index.Reader) error {
		n, err = r.Count(ctx)
		return err
	})
	return n, err
}

// Filters implements [Searcher].
func (f *IndexFiles) Filters(ctx context.Context) (list index.Filters, err error) {
	err = f.use(func(r *index.Reader) error {
		list, err = r.Filters(ctx)
		return err
	})
	return list, err
}

// Complete implements [Searcher].
func (f *IndexFiles) Complete(ctx context.Context, q index.CompletionQuestion) (list []index.Completion, err error) {
	err = f.use(func(r *index.Reader) error {
		list, err = r.Complete(ctx, q)
		return err
	})
	return list, err
}

// Similar implements [Searcher].
func (f *IndexFiles) Similar(ctx context.Context, u page.URL, opts index.SimilarOptions) (list *index.SimilarPages, err error) {
	err = f.use(func(r *index.Reader) error {
		list, err = r.Similar(ctx, u, opts)
		return err
	})
	return list, err
}

// Pictured implements [Thumbnails].
func (f *IndexFiles) Pictured(ctx context.Context, urls []page.URL) (list []page.URL, err error) {
	err = f.use(func(r *index.Reader) error {
		list, err = r.Pictured(ctx, urls)
		return err
	})
	return list, err
}

// Thumbnail implements [Thumbnails].
func (f *IndexFiles) Thumbnail(ctx context.Context, u page.URL) (image []byte, err error) {
	err = f.use(func(r *index.Reader) error {
		image, err = r.Thumbnail(ctx, u)
		return err
	})
	return image, err
}

// Ready returns an error if the index cannot be searched.
func (f *IndexFiles) Ready(ctx context.Context) error {
	return f.use(func(r *index.Reader) error {
		v, err := r.Snapshot(ctx)
		if err != nil {
			return err
		}
		return v.Close()
	})
}

func (f *IndexFiles) use(do func(*index.Reader) error) error {
	r := f.take()
	err := do(r.Reader)
	if err != nil && r.Replaced() {
		// A rebuild has ended meanwhile and removed the files that the reader tried to reopen.
		now := f.take()
		if now != r {
			err = do(now.Reader)
		}
		err = errors.Join(err, f.giveBack(now))
	}
	return errors.Join(err, f.giveBack(r))
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
