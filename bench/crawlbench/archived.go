package crawlbench

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/crawler/archive"
)

// archived compares a crawl with a replay of what it recorded: both store and index the
// same pages, so the difference is what it costs to find and to fetch them. A round
// first records, then replays.
type archived struct {
	dir string // of the last round
}

// record crawls and writes an archive.
func (a *archived) record(ctx context.Context, seed string, o Options) (*measure.Run, error) {
	if err := a.remove(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "indexer-bench-")
	if err != nil {
		return nil, err
	}
	a.dir = dir
	recorder, err := archive.Open(dir, "indexer-bench")
	if err != nil {
		return nil, err
	}
	r, err := measure.InTemp(func(dir string) (*measure.Run, error) { return ourCrawl(ctx, dir, seed, o, recorder, nil) })
	return r, errors.Join(err, recorder.Close())
}

// replay loads the archive into a fresh directory.
func (a *archived) replay(ctx context.Context, o Options) (*measure.Run, error) {
	files, err := filepath.Glob(filepath.Join(a.dir, "*.warc.gz"))
	if err != nil {
		return nil, err
	}
	return measure.InTemp(func(dir string) (*measure.Run, error) {
		took, err := measure.Replay(ctx, dir, files, o.Repo)
		return &measure.Run{Took: took, Pages: o.Pages}, err
	})
}

func (a *archived) remove() error {
	if a.dir == "" {
		return nil
	}
	return os.RemoveAll(a.dir)
}
