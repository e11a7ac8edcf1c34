package seeds

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/webindexer/indexer/page"
)

const (
	// MaxLine is the length in bytes beyond which a line is rejected: that of the
	// longest URL, twice, to leave room for white space and a comment.
	MaxLine = 2 * page.MaxURLLength
	// MaxSeeds is the number of seeds after which reading stops. So many take some 200
	// MB while they are read.
	MaxSeeds = 1_000_000
	// MaxErrors is the number of rejected lines reported one by one; more are only
	// counted. If a file begins with that many rejected lines and no seed, reading
	// stops.
	MaxErrors = 1000
)

// Seed is a URL to start from.
type Seed struct {
	URL page.URL
	// Bare reports that only a host was given, perhaps with port and path, and https
	// was assumed. If that cannot be reached, try http.
	Bare bool
	// Line is where the seed occurs first, from 1; 0 if there is no file.
	Line int
}

// Seeds are the seeds of a file, in its order, each URL once.
type Seeds []Seed

var (
	// ErrTooMany is wrapped by the error for a file of more than MaxSeeds seeds.
	ErrTooMany = fmt.Errorf("more than %d seeds; split the file and crawl the parts one after the other", MaxSeeds)
	// ErrNoList is wrapped by the error for a file that begins with MaxErrors invalid
	// lines.
	ErrNoList = errors.New("this is not a list of URLs, one on each line")
)

// Parse reads a seeds file; name is its name in errors. The error joins a *LineError
// for each rejected line, up to MaxErrors, and the reason for stopping early, if any
// (ErrTooMany, ErrNoList, an error of r). Parse still returns the seeds of all other
// lines; the caller decides whether to continue with them.
func Parse(name string, r io.Reader) (Seeds, error) {
	return parse(name, r, MaxSeeds)
}

// parse is Parse with another limit on the number of seeds.
func parse(name string, r io.Reader, most int) (Seeds, error) {
	p := &parser{name: name, most: most, index: make(map[page.URL]int)}
	in := newLines(r)
	for in.next() {
		if !p.take(in.text, in.number, in.tooLong) {
			break
		}
	}
	if in.err != nil {
		p.errs = append(p.errs, fmt.Errorf("read %s after line %d: %w", name, in.number, in.err))
	}
	return slices.Clip(p.seeds), p.err()
}

// ParseSeed parses one seed, for instance from the command line. The error is a
// *LineError without file and line.
func ParseSeed(text string) (Seed, error) {
	s, rejected := parseSeed(text)
	if rejected != nil {
		return Seed{}, rejected
	}
	return s, nil
}

type parser struct {
	name  string
	most  int // seeds
	seeds Seeds
	index map[page.URL]int // position in seeds
	errs  []error
	more  int // rejected lines beyond MaxErrors
}

// take handles one line and reports whether to continue.
func (p *parser) take(text string, line int, tooLong bool) bool {
	if tooLong {
		return p.reject(&LineError{Text: text, Reason: fmt.Sprintf("is longer than %d bytes", MaxLine)}, line)
	}
	text = withoutComment(text)
	if text == "" {
		return true
	}
	seed, rejected := parseSeed(text)
	if rejected != nil {
		return p.reject(rejected, line)
	}
	seed.Line = line
	if i, dup := p.index[seed.URL]; dup {
		p.seeds[i].Bare = p.seeds[i].Bare && seed.Bare // one line with https is enough
		return true
	}
	if len(p.seeds) == p.most {
		p.errs = append(p.errs, fmt.Errorf("%s:%d: %w", p.name, line, ErrTooMany))
		return false
	}
	p.index[seed.URL] = len(p.seeds)
	p.seeds = append(p.seeds, seed)
	return true
}

func (p *parser) reject(e *LineError, line int) bool {
	e.File, e.Line = p.name, line
	if len(p.errs) < MaxErrors {
		p.errs = append(p.errs, e)
	} else {
		p.more++
	}
	if len(p.errs) == MaxErrors && len(p.seeds) == 0 {
		p.errs = append(p.errs, fmt.Errorf("%s: %w; reading stopped at line %d", p.name, ErrNoList, line))
		return false
	}
	return true
}

func (p *parser) err() error {
	if p.more > 0 {
		p.errs = append(p.errs, fmt.Errorf("%s: %d more lines rejected", p.name, p.more))
	}
	return errors.Join(p.errs...)
}
