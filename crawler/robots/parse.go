package robots

import (
	"slices"
	"strings"
)

// Parse reads a robots.txt by RFC 9309. It never fails: what is not understood is
// skipped and counted in Stats, what goes beyond DefaultMaxBytes is ignored and
// counted in Stats.Ignored.
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
	sitemaps map[string]bool // those seen

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

// userAgent opens a block, or adds an agent to the open one as long as no rule has
// come. Other records, Crawl-delay among them, do not end a block (section 2.2.4).
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

// rule adds a rule to the open block; before the first user-agent line there is
// none, and the rule is void. A rule without value says nothing, but it is a rule:
// the next user-agent line opens a new block.
func (p *parser) rule(r ruleLine) {
	if !p.open {
		return
	}
	p.ruled = true
	if r.path == "" {
		return
	}
	r.text = strings.Clone(r.text)
	r.path = r.text[len(r.text)-len(r.path):]
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

// crawlDelay notes the delay for the agents of the open block, without those that
// had a crawl-delay line of their own before the last user-agent line:
//
//	User-agent: a
//	Crawl-delay: 10
//	User-agent: b
//	Disallow: /x
//
// The rule is for a and b, the delay for a only. Of several the longest counts.
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

// isBareSitemap tells a line that is nothing but an http URL.
func isBareSitemap(line string) bool {
	lower := strings.ToLower(line)
	return !strings.ContainsAny(line, blanks) &&
		slices.ContainsFunc([]string{"http://", "https://"}, func(scheme string) bool {
			return strings.HasPrefix(lower, scheme)
		})
}
