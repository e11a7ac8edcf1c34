package sitemap

import (
	"errors"
	"io"
	"time"

	"github.com/webindexer/indexer/page"
)

// The limits of the protocol. Larger files are cut off.
const (
	// MaxEntries is the number of entries read from one file.
	MaxEntries = 50_000
	// MaxSize is the size in bytes of one file, decompressed.
	MaxSize = 50 << 20
	// MaxDepth is the number of indexes that may lead to a file. The protocol allows
	// one; indexes of indexes exist.
	MaxDepth = 2
)

// Kind is the format of a file.
type Kind uint8

// The known formats. A file of UnknownKind has no entries.
const (
	UnknownKind Kind = iota
	URLSet           // <urlset> of the sitemap protocol
	Index            // <sitemapindex>: a list of sitemaps
	Text             // one URL a line
	RSS              // RSS 0.9x, 1.0 (RDF) and 2.0
	Atom             // RFC 4287
)

// String is the name of the kind in lower case.
func (k Kind) String() string {
	names := [...]string{"unknown", "urlset", "index", "text", "rss", "atom"}
	if int(k) < len(names) {
		return names[k]
	}
	return names[UnknownKind]
}

// EntryKind says what an entry's URL names.
type EntryKind uint8

// What entries name.
const (
	PageEntry    EntryKind = iota // a page to crawl
	SitemapEntry                  // another sitemap, to be parsed at Depth+1
)

// Entry is one URL of a file. The protocol's changefreq and priority are ignored: sites
// write what they wish.
type Entry struct {
	URL  page.URL
	Kind EntryKind
	// LastMod is when the page last changed, according to its site, in UTC; zero if the
	// site does not say, or not in a readable way.
	LastMod time.Time
}

// Sitemap describes a file that was read.
type Sitemap struct {
	Kind    Kind
	Entries int // taken
	Outside int // pages dropped because they are out of reach
}

// Options say how to read a file. The zero value is right for a sitemap that robots.txt
// named and that lists only its own host.
type Options struct {
	// Depth is the number of indexes that led to this file.
	Depth int
	// Announced reports whether the robots.txt of a site (as page.URL.Site writes it)
	// announced this file or the index that led to it; if so, its pages on that site
	// are kept. Nil announces nothing. Parse calls it in its own goroutine, only for
	// pages out of reach, and it should answer from what is already known.
	Announced func(site string) bool
}

// Parse reads the file that was fetched from base, compressed with gzip or not, and
// calls take with each entry, in the order of the file, until take returns false. It
// keeps no entries, because they may be as large as the file. It never fails as a whole:
// it takes what it can read, and returns the problems, in order. If the file made it stop
// early, the last problem says why. A problem may wrap an error of r.
//
// The entries of an index may be on any host: each sitemap that it names lists its own host
// when it is read.
func Parse(r io.Reader, base page.URL, opts Options, take func(Entry) bool) (Sitemap, []Problem) {
	own := page.NewResolver(base)
	p := &parser{
		opts:     opts,
		take:     take,
		reach:    reach{host: hostPort(base), announced: opts.Announced},
		base:     own,
		absolute: own.Rebase(""),
	}
	p.read(r)
	return p.out, p.problems.all()
}

// parser reads one file.
type parser struct {
	opts     Options
	take     func(Entry) bool
	reach    reach
	base     *page.Resolver
	absolute *page.Resolver // for absolute URLs
	out      Sitemap
	problems problems
}

func (p *parser) read(r io.Reader) {
	in, err := newInput(r)
	if err != nil {
		p.problems.add(1, 1, err)
		return
	}
	first, err := in.firstByte()
	switch {
	case errors.Is(err, io.EOF):
		p.problems.add(1, 1, errEmpty)
	case err != nil:
		p.problems.add(1, 1, err)
	case first == '<':
		p.readXML(in)
	default:
		p.readText(in)
	}
}

// add passes on an entry that is within reach, and reports whether to continue.
func (p *parser) add(e Entry, line, column int) bool {
	if e.Kind == PageEntry && !p.reach.holds(e.URL) {
		if p.out.Outside == 0 {
			p.problems.add(line, column, &outsideError{e.URL, p.reach.host})
		}
		p.out.Outside++
		return true
	}
	if p.out.Entries == MaxEntries {
		p.problems.add(line, column, errTooMany)
		return false
	}
	p.out.Entries++
	return p.take(e)
}
