package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// maxFile is the size in bytes at which a new file begins.
const maxFile = 1 << 30

// Recorder writes exchanges to the files of a directory. It implements
// crawler.Recorder and is safe for concurrent use.
type Recorder struct {
	dir   string
	agent string
	now   func() time.Time
	limit int64

	mu     sync.Mutex
	serial int
	file   *warc.File // nil until the first exchange
	name   string
	index  []entry
}

// Open creates the directory if it does not exist, and completes the files that a
// killed run left open.
func Open(dir, userAgent string) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	if err := recoverFiles(dir); err != nil {
		return nil, err
	}
	return &Recorder{dir: dir, agent: userAgent, now: time.Now, limit: maxFile}, nil
}

// escapeGlob keeps a directory's name from acting as a pattern.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// Record writes an exchange and returns once the operating system has it. It leaves out
// a failed result: there is no whole response to write.
func (r *Recorder) Record(_ context.Context, u page.URL, res *fetch.Result) error {
	if res.Class != fetch.OK {
		return nil
	}
	remote := ""
	if res.RemoteAddr.IsValid() {
		remote = res.RemoteAddr.Addr().Unmap().String()
	}
	return r.write(u, res.Fetch.Time, func(f *warc.File) (entry, error) {
		request := ""
		if len(res.RequestBlock) > 0 {
			var err error
			if request, err = f.WriteRequest(u, res.Fetch.Time, res.RequestBlock); err != nil {
				return entry{}, err
			}
		}
		from, to, err := f.WriteResponse(warc.Exchange{
			URL: u, Date: res.Fetch.Time, Remote: remote, Status: res.Fetch.Status,
			Block: res.ResponseBlock(), Payload: res.Payload, Request: request,
		})
		return newEntry(u, &res.Fetch, warc.Digest(res.Payload), from, to), err
	})
}

func (r *Recorder) write(u page.URL, at time.Time, fn func(*warc.File) (entry, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil && r.file.Offset() >= r.limit {
		if err := r.finish(); err != nil {
			return err
		}
	}
	if r.file == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	e, err := fn(r.file)
	if r.file.Flush() != nil {
		// The file may end in half a record, so further exchanges go to another one. The next
		// run completes this one. Leave also returns the error of the write.
		err = r.file.Leave()
		r.file = nil
	}
	if err != nil {
		return fmt.Errorf("archive: record %s fetched at %s: %w", u, at.Format(time.RFC3339), err)
	}
	r.index = append(r.index, e)
	return nil
}

// begin creates the next file, named PREFIX-time-serial as crawlers do.
func (r *Recorder) begin() error {
	file, err := r.create()
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	err = file.WriteInfo(r.now(), warc.Fields{
		{Name: "software", Value: "indexer"},
		{Name: "format", Value: "WARC File Format 1.1"},
		{Name: "conformsTo", Value: "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"},
		{Name: "robots", Value: "obeyed, RFC 9309"},
		{Name: "http-header-user-agent", Value: r.agent},
	})
	if err != nil {
		return fmt.Errorf("archive: begin %s: %w", r.name, errors.Join(err, file.Leave()))
	}
	r.file, r.index = file, nil
	return nil
}

// create creates a file with the next serial number that is free.
func (r *Recorder) create() (*warc.File, error) {
	for {
		r.serial++
		r.name = fmt.Sprintf("INDEXER-%s-%05d.warc.gz", r.now().UTC().Format("20060102150405"), r.serial)
		if file, err := warc.Create(filepath.Join(r.dir, r.name)); !errors.Is(err, os.ErrExist) {
			return file, err
		}
	}
}

// finish writes the index of the file and then completes it. A file without the end of its
// name is completed by the next run, and one that has it is not looked at again. So the index
// comes first.
func (r *Recorder) finish() error {
	if r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	if err := writeIndex(filepath.Join(r.dir, strings.TrimSuffix(r.name, ".warc.gz")+".cdxj"), r.name, r.index); err != nil {
		return errors.Join(err, file.Leave())
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}

// Close completes the last file.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.finish()
}

// Leave closes the last file without completing it, as a kill does: the crawl may have ended
// before it loaded all that was recorded. See EachLeft.
func (r *Recorder) Leave() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	file := r.file
	r.file = nil
	if err := file.Leave(); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}
