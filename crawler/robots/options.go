package robots

import "time"

// DefaultMaxBytes is how much of a file is read: the 500 KiB that RFC 9309 section
// 2.5 makes the least.
const DefaultMaxBytes = 500 << 10

// Options are departures from RFC 9309 that other crawlers are known for. The
// zero value is the RFC.
type Options struct {
	// MaxBytes is how much of a file is read; less than DefaultMaxBytes, which
	// the RFC forbids, means DefaultMaxBytes.
	MaxBytes int

	// Agents says how user-agent lines are matched.
	Agents AgentMatching

	// Verbatim compares URLs octet by octet as they are given. Rules have
	// non-ASCII octets encoded and hex digits in upper case, but no escape is
	// undone on either side. Google's parser does so and leaves the encoding of
	// the URL to its caller; section 2.2.2 wants both sides normalised.
	Verbatim bool

	// IndexIsDirectory lets "Allow: /dir/index.html" (or anything that begins
	// with index.htm) allow "/dir/" as well, as Google's parser does.
	IndexIsDirectory bool

	// MaxLineBytes cuts longer lines, so that the rest of a rule is lost; 0
	// means no limit. Google's parser cuts at 16663 octets, eight times the
	// longest URL old browsers took.
	MaxLineBytes int

	// HTML removes tags from files that look like HTML pages, as crawler-commons
	// does for files edited with the wrong program.
	HTML bool

	// BareSitemaps takes a line that is only an http URL as a sitemap whose
	// field name was forgotten, as crawler-commons does.
	BareSitemaps bool

	// DisallowAboveDelay, if not 0, disallows everything to a crawler that is
	// asked for a longer Crawl-delay; crawler-commons does so above 300 s.
	DisallowAboveDelay time.Duration
}

func (o Options) maxBytes() int {
	return max(o.MaxBytes, DefaultMaxBytes)
}
