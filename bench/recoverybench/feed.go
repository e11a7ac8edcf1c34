package recoverybench

import (
	"errors"
	"os"
	"sync/atomic"

	"github.com/webindexer/indexer/bench/webgen"
	"github.com/webindexer/indexer/warc"
)

// feed writes generated pages into the pipe of a loader for as long as the run lasts. The
// loader reads as fast as the backlog allows, so there is always work and never much of it.
// A file gets the same bytes, for the comparison at the end.
type feed struct {
	web   *webgen.Web
	pages int
	pipe  *os.File
	file  *os.File
	path  string

	stopped atomic.Bool
	dry     atomic.Bool // all pages were written
	done    chan struct{}
	written int   // once done is closed
	err     error // once done is closed
}

// both writes to the file before the pipe, so that nothing is loaded that is not in the
// file.
type both struct{ file, pipe *os.File }

func (b both) Write(p []byte) (int, error) {
	if n, err := b.file.Write(p); err != nil {
		return n, err
	}
	return b.pipe.Write(p)
}

// pagesPerHost is small, as in bench scaling: workers then rarely have pages of one host at
// the same time.
const pagesPerHost = 12

// newFeed returns a feed and the end of the pipe from which the loader reads.
func newFeed(o *Options, path string) (*feed, *os.File, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	web := webgen.New(o.Seed, o.Pages, max(1, o.Pages/pagesPerHost), webgen.DefaultWords)
	return &feed{web: web, pages: o.Pages, pipe: w, file: file, path: path, done: make(chan struct{})}, r, nil
}

// abandon closes a feed that was never begun.
func (f *feed) abandon() error { return errors.Join(f.pipe.Close(), f.file.Close()) }

// write writes pages until the feed is stopped or dry, or until the loader is gone.
func (f *feed) write() {
	defer close(f.done)
	w := warc.NewWriter(both{f.file, f.pipe})
	for f.written < f.pages && !f.stopped.Load() && f.err == nil {
		fetch := f.web.Fetch(f.written)
		if f.err = w.WriteFetch(&fetch); f.err == nil {
			f.written++
		}
	}
	f.dry.Store(f.written == f.pages)
	f.err = errors.Join(f.err, f.pipe.Close(), f.file.Close())
}

func (f *feed) isDry() bool { return f.dry.Load() }

// end writes no further page, and returns how many there were.
func (f *feed) end() (int, error) {
	f.stopped.Store(true)
	<-f.done // the loader keeps reading, or has ended
	return f.written, f.err
}
