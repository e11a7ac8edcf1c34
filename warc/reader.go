package warc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"

	"github.com/webindexer/indexer/page"
)

// Reader reads the records of one WARC file. It is not safe for concurrent use.
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

	used  int    // bytes of the window that belong to the current record
	lost  bool   // the start of the next record is unknown, which has been reported
	other string // what a file that begins with something else is, if that is known
	done  error  // what ended the reading

	// These prevent quadratic time: no header ends between the start of the last search and
	// noEnd, and credit is how many bytes may still be searched again for records after they
	// were mistaken for something else.
	noEnd  int64
	credit int64
}

// Open opens a WARC file. It returns only errors of the operating system; Next and
// Problems report errors in the contents.
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

// NewReader reads a WARC file from src; name identifies it in problems and errors. If src
// can seek, more records can be recovered from a damaged file.
func NewReader(src io.Reader, name string, opts Options) *Reader {
	opts.MaxBody = cmp.Or(opts.MaxBody, DefaultMaxBody)
	r := &Reader{opts: opts, src: newSource(src), credit: 64 << 20}
	r.problems = problems{file: name, on: opts.OnProblem}
	r.stats.Records = map[string]int{}
	r.stream = &stream{src: r.src, report: r.problems.add}
	r.win = newWindow(r.stream)
	return r
}

// Close releases the Reader's memory, and closes the file if Open opened it.
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

// Next returns the next record, including damaged ones, and io.EOF after the last. Any
// other error means that the file cannot be read any further (a disk, a network); later
// calls return it again.
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

// Fetches yields the remaining fetches of the file in order. It ends after the last one, or
// after it has yielded the first error of the file.
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

// Stats returns the counts so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Records = maps.Clone(s.Records)
	s.Problems = r.problems.total
	s.Bytes, s.Size, s.Uncompressed = r.src.pos(), r.src.size, r.win.pos()
	return s
}

// Problems returns the first problems found so far, at most MaxProblems;
// Stats has their total number.
func (r *Reader) Problems() []Problem { return r.problems.list }

// Stats counts what a Reader has read so far.
type Stats struct {
	// Records counts records by type: response, resource, revisit, request,
	// metadata, warcinfo, conversion, continuation, and "unknown" for all others.
	Records map[string]int
	// Fetches counts the records with a fetch, Failed those of them whose fetch has Err set.
	Fetches, Failed int
	// OtherSchemes counts responses, resources and revisits of URLs that are not
	// http or https (dns:, ftp:, mailto:).
	OtherSchemes int
	// Problems counts all problems, including those that Reader.Problems does not hold.
	Problems int
	// Bytes is the position in the file as stored, and Size the file's size, or -1 if
	// unknown. They are meant for a progress bar.
	Bytes, Size int64
	// Uncompressed is the position in the uncompressed stream, in bytes.
	Uncompressed int64
}

var recordTypes = map[string]bool{"response": true, "resource": true, "revisit": true, "request": true,
	"metadata": true, "warcinfo": true, "conversion": true, "continuation": true}

// countRecord keeps the number of keys bounded, whatever types a file invents.
func (s *Stats) countRecord(typ string) {
	if !recordTypes[typ] {
		typ = "unknown"
	}
	s.Records[typ]++
}

// Defaults of Options, and fixed bounds.
const (
	// DefaultMaxBody is the default of Options.MaxBody, in bytes.
	DefaultMaxBody = 32 << 20
	// MaxProblems bounds the number of problems that Reader.Problems holds. Stats counts all.
	MaxProblems = 100

	// maxHeader bounds a record header, and an HTTP header. Long data: URLs make record
	// headers of a megabyte; no legitimate header is longer than this.
	maxHeader = 2 << 20
)

// Options configures a Reader. The zero value is ready to use.
type Options struct {
	// MaxBody bounds a record's block and the body decoded from it, in bytes; 0 means
	// DefaultMaxBody. A longer one gives a fetch with Err.
	MaxBody int64
	// OnProblem, if not nil, is called by Next with each problem as it is found.
	OnProblem func(Problem)
	// NoDigests turns off checking the digests of records.
	NoDigests bool
}
