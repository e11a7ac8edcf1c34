package robots

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// File is a parsed robots.txt. It is immutable and safe for concurrent use.
//
// The records are kept in flat slices in the order of the file. Consecutive user-agent
// lines (with only other records between them) open a block, and the rules after them
// belong to it:
//
//	agents   a  b  |  c        each with its block and its run
//	blocks   0: rules 0-2  |  1: rules 3-3
//	delays   one for each run; a run is the part of a block's agents that one
//	         Crawl-delay line concerns
//
// Memory is proportional to the file, whatever it contains.
type File struct {
	opts     Options
	agents   []agentLine
	blocks   []block
	rules    []ruleLine
	delays   []delay
	sitemaps []string
	stats    Stats
}

// Stats count what a file contains.
type Stats struct {
	Lines   int // lines read
	Records int // user-agent, allow, disallow, crawl-delay and sitemap lines
	Unknown int // lines with another field name
	Ignored int // bytes at the end that exceed the limit and were not read
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

// Sitemaps returns the values of the sitemap lines in the order of the file, without
// duplicates. They concern all crawlers (RFC 9309 section 2.2.4). The sitemap protocol
// does not allow relative references, but they occur: resolve them against the URL of
// the robots.txt.
func (f *File) Sitemaps() []string { return slices.Clone(f.sitemaps) }

// Stats returns the counts of the file.
func (f *File) Stats() Stats { return f.stats }

// Parse reads a robots.txt according to RFC 9309. It never fails: it skips what it does
// not understand and counts it in Stats, and ignores what exceeds DefaultMaxBytes and
// counts it in Stats.Ignored.
func Parse(body []byte) *File { return Options{}.Parse(body) }

// Parse is the function Parse with departures from the RFC.
func (o Options) Parse(body []byte) *File {
	text, ignored := decode(body, o.maxBytes())
	p := parser{
		file:     &File{opts: o, stats: Stats{Ignored: ignored}},
		html:     o.HTML && looksLikeHTML(text),
		sitemaps: map[string]bool{},
	}
	for n, line := range lines(text) {
		p.file.stats.Lines = n
		p.line(n, line)
	}
	p.endBlock()
	return p.file
}

type parser struct {
	file     *File
	html     bool
	sitemaps map[string]bool // already seen

	open     bool // a block is open
	ruled    bool // and has had an allow or disallow line
	delayed  bool // the current run has had a crawl-delay line
	ruleFrom int  // where the open block's rules begin
}

func (p *parser) line(n int, line string) {
	if limit := p.file.opts.MaxLineBytes; limit > 0 && len(line) > limit {
		line = line[:limit]
	}
	if p.html {
		line = withoutTags(line)
	}
	line = withoutComment(line)
	name, value, ok := splitRecord(line)
	if !ok {
		return
	}
	kind := kindOf(name)
	if kind == unknownRecord {
		p.unknown(line)
		return
	}
	p.file.stats.Records++
	switch kind {
	case userAgentRecord:
		p.userAgent(value)
	case allowRecord, disallowRecord:
		p.rule(ruleLine{line: int32(n), allow: kind == allowRecord, text: line, path: value})
	case crawlDelayRecord:
		p.crawlDelay(value)
	case sitemapRecord:
		p.sitemap(value)
	}
}

func (p *parser) unknown(line string) {
	if p.file.opts.BareSitemaps && isBareSitemap(line) {
		p.file.stats.Records++
		p.sitemap(line)
		return
	}
	p.file.stats.Unknown++
}

// userAgent opens a block, or adds an agent to the open one while it has no rule. Other
// records, including Crawl-delay, do not end a block (section 2.2.4).
func (p *parser) userAgent(value string) {
	f := p.file
	if p.ruled {
		p.endBlock()
	}
	if !p.open || p.delayed {
		f.delays = append(f.delays, delay{})
		p.delayed = false
	}
	p.open = true
	f.agents = append(f.agents, agentLine{
		value: strings.Clone(value),
		block: int32(len(f.blocks)),
		run:   int32(len(f.delays) - 1),
	})
}

// rule adds a rule to the open block. A rule before the first user-agent line is void.
// A rule without a value has no effect, but it is a rule: the next user-agent line
// opens a new block.
func (p *parser) rule(r ruleLine) {
	if !p.open {
		return
	}
	p.ruled = true
	if r.path == "" {
		return
	}
	p.file.rules = append(p.file.rules, r)
}

func (p *parser) endBlock() {
	if !p.open {
		return
	}
	f := p.file
	f.blocks = append(f.blocks, block{from: int32(p.ruleFrom), to: int32(len(f.rules))})
	p.ruleFrom = len(f.rules)
	p.open, p.ruled, p.delayed = false, false, false
}

// crawlDelay sets the delay for the agents of the open block, except those that had a
// crawl-delay line of their own before the last user-agent line:
//
//	User-agent: a
//	Crawl-delay: 10
//	User-agent: b
//	Disallow: /x
//
// The rule is for a and b, the delay for a only. The longest of several delays counts.
func (p *parser) crawlDelay(value string) {
	if !p.open {
		return
	}
	p.delayed = true
	d, ok := parseDelay(value)
	if !ok {
		return
	}
	last := &p.file.delays[len(p.file.delays)-1]
	*last = delay{value: max(last.value, d), set: true}
}

func (p *parser) sitemap(value string) {
	if value == "" || p.sitemaps[value] {
		return
	}
	value = strings.Clone(value)
	p.sitemaps[value] = true
	p.file.sitemaps = append(p.file.sitemaps, value)
}

// isBareSitemap reports whether a line is only an http URL.
func isBareSitemap(line string) bool {
	lower := strings.ToLower(line)
	return !strings.ContainsAny(line, blanks) && (strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://"))
}

// maxDelay replaces longer delays. It is far beyond any cap that a crawler sets, and
// prevents overflow in the sum of a time and a delay.
const maxDelay = 100 * 365 * 24 * time.Hour

// parseDelay reads the value of a crawl-delay line: seconds as a decimal number. Other
// values, including negative numbers, are void.
func parseDelay(value string) (time.Duration, bool) {
	if value == "" || strings.Trim(value, "0123456789.") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil && !math.IsInf(seconds, 1) {
		return 0, false
	}
	if seconds >= maxDelay.Seconds() {
		return maxDelay, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}
