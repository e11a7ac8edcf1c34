package webgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// perFile is how many responses a file of a generated web has.
const perFile = 10_000

// Result says what was written.
type Result struct {
	Files []string `json:"files"`
	Pages int      `json:"responses"`
	Bytes int64    `json:"bytes"` // as compressed
}

// Write writes a generated web into WARC files in dir, which must not have them yet.
func (w *Web) Write(ctx context.Context, dir string, log io.Writer) (*Result, error) {
	var jobs []job
	for from := 0; from < w.Pages; from += perFile {
		jobs = append(jobs, job{
			path: filepath.Join(dir, fmt.Sprintf("web-%05d.warc.gz", len(jobs)+1)),
			write: func(ctx context.Context, f *warc.File) (int, error) {
				to := min(from+perFile, w.Pages)
				for i := from; i < to; i++ {
					if err := ctx.Err(); err != nil {
						return 0, err
					}
					fetch := w.Fetch(i)
					if err := f.WriteFetch(&fetch); err != nil {
						return 0, err
					}
				}
				return to - from, nil
			},
		})
	}
	return writeAll(ctx, dir, jobs, log)
}

// Copies writes copies of recorded files into dir, each on hosts of its own and with
// some words replaced.
func Copies(ctx context.Context, dir string, files []string, copies int, log io.Writer) (*Result, error) {
	hosts, err := hostsOf(ctx, files)
	if err != nil {
		return nil, err
	}
	var jobs []job
	for n := 1; n <= copies; n++ {
		c := newCopier(n, hosts)
		for _, file := range files {
			base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), ".warc")
			jobs = append(jobs, job{
				path: filepath.Join(dir, fmt.Sprintf("%s-copy%d.warc.gz", base, n)),
				write: func(ctx context.Context, f *warc.File) (int, error) {
					return eachFetch(ctx, file, func(fetch *page.Fetch) error {
						c.rewrite(fetch)
						return f.WriteFetch(fetch)
					})
				},
			})
		}
	}
	return writeAll(ctx, dir, jobs, log)
}

// eachFetch calls fn with every fetch of a file that WARC has a form for.
func eachFetch(ctx context.Context, file string, fn func(*page.Fetch) error) (n int, err error) {
	r, err := warc.Open(file, warc.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for f, err := range r.Fetches() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && (f.Status != 0 || f.Revisit) && f.Err == "" {
			n++
			err = fn(&f)
		}
		if err != nil {
			return n, fmt.Errorf("%s: %w", file, err)
		}
	}
	return n, nil
}

// job is a file to write.
type job struct {
	path  string
	write func(context.Context, *warc.File) (responses int, err error)
}

// writeAll writes files, as many at a time as there are processors.
func writeAll(ctx context.Context, dir string, jobs []job, log io.Writer) (*Result, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	pages, bytes := make([]int, len(jobs)), make([]int64, len(jobs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, j := range jobs {
		g.Go(func() (err error) {
			pages[i], bytes[i], err = j.run(ctx)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	res := &Result{}
	for i, j := range jobs {
		res.Files = append(res.Files, j.path)
		res.Pages += pages[i]
		res.Bytes += bytes[i]
		fmt.Fprintf(log, "%s: %d responses\n", j.path, pages[i])
	}
	return res, nil
}

// run writes the file. It removes one that is not complete.
func (j *job) run(ctx context.Context) (pages int, size int64, err error) {
	f, err := warc.Create(j.path)
	if err != nil {
		return 0, 0, err
	}
	err = f.WriteInfo(began, warc.Fields{{Name: "software", Value: "indexer bench web"}, {Name: "format", Value: "WARC File Format 1.1"}})
	if err == nil {
		pages, err = j.write(ctx, f)
	}
	size = f.Offset()
	if err != nil {
		return pages, size, errors.Join(err, f.Close(), os.RemoveAll(j.path))
	}
	return pages, size, f.Close()
}

// Text is the result as people read it.
func (r *Result) Text() string {
	return fmt.Sprintf("%d responses in %s, %.1f MB; files: %d\n", r.Pages, filepath.Dir(r.Files[0]), float64(r.Bytes)/1e6, len(r.Files))
}
