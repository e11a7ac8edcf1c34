package warc

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"

	"indexer/page"
)

// Reader reads the records of one WARC file. It is for one goroutine at a time.
type Reader struct {
	opts     Options
	problems problems
	src      *source
	stream   *stream
	win      *window
	file     io.Closer // nil if the Reader did not open it

	rec    Record
	fields Fields // the buffer of rec.Fields
	stats  Stats

	used  int  // bytes of the window that belong to the current record
	lost  bool // where the next record begins is not known, which was reported
	isARC bool
	done  error // what ended the reading

	// What keeps the time from becoming quadratic: no header ends between where
	// one was looked for and noEnd, and credit is how many bytes may still be
	// looked at again for records in what was taken for something else.
	noEnd  int64
	credit int64
}

// Open opens a WARC file. An error is the operating system's; what is wrong with
// the contents is told by Next and Problems.
func Open(path string, opts Options) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open WARC file: %w", err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(fmt.Errorf("open WARC file %s: it is a directory; name the files in it", path), f.Close())
	}
	r := NewReader(f, path, opts)
	r.file = f
	return r, nil
}

// NewReader reads a WARC file from src, to which name refers in problems and
// errors. Where src can seek, more can be saved from damaged files.
func NewReader(src io.Reader, name string, opts Options) *Reader {
	opts = opts.withDefaults()
	r := &Reader{opts: opts, src: newSource(src), credit: 64 << 20}
	r.problems = problems{file: name, max: opts.MaxProblems, on: opts.OnProblem}
	r.stats.Records = map[string]int{}
	r.stream = &stream{src: r.src, report: r.problems.add}
	r.win = newWindow(r.stream)
	return r
}

// Close releases what the Reader holds, and the file if Open opened it.
func (r *Reader) Close() error {
	r.stream.zstd.close()
	if r.done == nil {
		r.done = errors.New("warc: the Reader is closed")
	}
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("close WARC file %s: %w", r.problems.file, err)
	}
	return nil
}

// Next returns the next record, damaged ones included, and io.EOF after the last.
// Any other error means that the file could not be read on (a disk, a network),
// and is returned by all later calls too.
func (r *Reader) Next() (*Record, error) {
	for r.done == nil {
		r.win.advance(r.used)
		r.credit += 4 * int64(r.used)
		r.used = 0
		if err := r.findRecord(); err != nil {
			r.done = err
			break
		}
		if r.readRecord() {
			r.stats.countRecord(r.rec.Type)
			return &r.rec, nil
		}
	}
	if errors.Is(r.done, io.EOF) {
		return nil, io.EOF
	}
	return nil, fmt.Errorf("WARC file %s, offset %d: %w", r.problems.file, r.src.pos(), r.done)
}

// Fetches yields the fetches of the rest of the file in its order. It ends after
// the last, or after the first error of the file, which it yields.
func (r *Reader) Fetches() iter.Seq2[page.Fetch, error] {
	return func(yield func(page.Fetch, error) bool) {
		for {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(page.Fetch{}, err)
				return
			}
			if f, ok := rec.Fetch(); ok && !yield(f, nil) {
				return
			}
		}
	}
}

// Stats says how far the reading has come.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Records = maps.Clone(s.Records)
	s.Problems = r.problems.total
	s.Bytes, s.Size, s.Uncompressed = r.src.pos(), r.src.size, r.win.pos()
	return s
}

// Problems returns the first problems found so far, at most Options.MaxProblems;
// Stats has their total number.
func (r *Reader) Problems() []Problem { return r.problems.list }

// Stats counts what a Reader has seen so far.
type Stats struct {
	// Records counts records by type: response, resource, revisit, request,
	// metadata, warcinfo, conversion, continuation, and "unknown" for all others.
	Records map[string]int
	// Fetches is how many records gave a fetch, Failed how many of them carry Err.
	Fetches, Failed int
	// OtherSchemes counts responses, resources and revisits of URLs that are not
	// http or https (dns:, ftp:, mailto:).
	OtherSchemes int
	// Problems is how many problems there were, kept ones and others.
	Problems int
	// Bytes is the position in the file as stored, Size the file's size or -1
	// where it is not known; for a progress bar.
	Bytes, Size int64
	// Uncompressed is the position in the uncompressed stream, in bytes.
	Uncompressed int64
}

var recordTypes = map[string]bool{"response": true, "resource": true, "revisit": true, "request": true,
	"metadata": true, "warcinfo": true, "conversion": true, "continuation": true}

// countRecord keeps the number of keys bounded whatever types a file makes up.
func (s *Stats) countRecord(typ string) {
	if !recordTypes[typ] {
		typ = "unknown"
	}
	s.Records[typ]++
}

// Bounds that an Options value of zero stands for, and those that are fixed.
const (
	// DefaultMaxBody is the largest body that is read, in bytes.
	DefaultMaxBody = 32 << 20
	// DefaultMaxProblems is how many problems are kept.
	DefaultMaxProblems = 100

	// maxHeader bounds a record header and an HTTP header, each. Long data: URLs
	// make record headers of a megabyte; nothing honest is longer than this.
	maxHeader = 2 << 20
)

// Options says how a Reader reads. The zero value is ready to use.
type Options struct {
	// MaxBody bounds a record's block and the body decoded from it, in bytes;
	// 0 is DefaultMaxBody. A longer one gives a fetch with Err.
	MaxBody int64
	// MaxProblems bounds how many problems Reader.Problems holds; 0 is
	// DefaultMaxProblems. Stats counts all of them.
	MaxProblems int
	// OnProblem, if not nil, is called with each problem as it is found, from
	// within Next.
	OnProblem func(Problem)
	// NoDigests leaves the digests of records unchecked.
	NoDigests bool
}

func (o Options) withDefaults() Options {
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.MaxProblems <= 0 {
		o.MaxProblems = DefaultMaxProblems
	}
	return o
}
