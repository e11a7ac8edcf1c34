package robots

import "time"

// File is a parsed robots.txt. It does not change and may be used by many
// goroutines.
//
// The records are kept in flat slices in the order of the file. Consecutive
// user-agent lines (only other records between them) open a block, which the rules
// after them belong to:
//
//	agents   a  b  |  c        each with its block and its run
//	blocks   0: rules 0-2  |  1: rules 3-3
//	delays   one for each run, a run being the part of a block's agents that a
//	         Crawl-delay line concerns
//
// Memory is proportional to the file, whatever is in it.
type File struct {
	opts     Options
	agents   []agentLine
	blocks   []block
	rules    []ruleLine
	delays   []delay
	sitemaps []string
	stats    Stats
}

// Stats tell what was found in a file.
type Stats struct {
	Lines   int // lines read
	Records int // user-agent, allow, disallow, crawl-delay and sitemap lines
	Unknown int // lines with another field name
	Ignored int // bytes at the end not read as the file is over the limit
}

type agentLine struct {
	value      string
	block, run int32
}

// block is the range of rules [from, to) that its agents share.
type block struct{ from, to int32 }

// ruleLine is an allow or disallow line with a value.
type ruleLine struct {
	line  int32
	allow bool
	text  string // the line without comment
	path  string // its value, a suffix of text
}

type delay struct {
	value time.Duration
	set   bool
}

// Sitemaps are the values of the sitemap lines in the order of the file, each
// once. They concern all crawlers (RFC 9309 section 2.2.4). Relative references
// are not allowed by the sitemap protocol, but do occur: resolve them against the
// URL of the robots.txt.
func (f *File) Sitemaps() []string { return append([]string(nil), f.sitemaps...) }

// Stats says what was found in the file.
func (f *File) Stats() Stats { return f.stats }

// Rules is how many allow and disallow lines with a value belong to a group.
func (f *File) Rules() int { return len(f.rules) }
