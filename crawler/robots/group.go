package robots

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
)

// MemoryFactor is how much memory a Group takes at most, as a multiple of its file. Short
// rules take half of that, usual ones a quarter.
const MemoryFactor = 6

// Group is what a robots.txt says to one crawler: all groups that name it, merged (RFC
// 9309 section 2.2.1), or else the groups for "*". It is immutable, safe for concurrent
// use, and does not retain its File.
type Group struct {
	opts     Options
	rules    []compiled // in the order of their precedence
	texts    string     // of the rules
	index    index
	fallback Rule // decides where no rule matches
	delay    delay
	wildcard bool
}

// Group returns what the file says to the crawler whose product token is agent. There
// is always one; without rules it allows everything. With several names, which the RFC
// does not foresee, it merges the groups of all.
//
// Group compiles the rules: keep the result for as long as the robots.txt is valid.
func (f *File) Group(agent ...string) *Group {
	g := f.collect(func(value string) bool {
		return slices.ContainsFunc(agent, func(name string) bool { return f.opts.Agents.matches(value, name) })
	})
	if g == nil {
		if g = f.collect(isWildcard); g != nil {
			g.wildcard = true
		}
	}
	if g == nil {
		return &Group{opts: f.opts, fallback: Rule{Allow: true, Text: "no group of robots.txt applies"}}
	}
	if limit := f.opts.DisallowAboveDelay; limit > 0 && g.delay.value > limit {
		return &Group{opts: f.opts, delay: g.delay, wildcard: g.wildcard, fallback: Rule{
			Text: fmt.Sprintf("robots.txt asks for a Crawl-delay of %v, more than %v", g.delay.value, limit),
		}}
	}
	return g
}

// collect merges the blocks that have an agent line with a matching value; nil if there
// is none.
func (f *File) collect(match func(value string) bool) *Group {
	chosen := make([]bool, len(f.blocks))
	g := &Group{opts: f.opts, fallback: Rule{Allow: true, Text: "no rule of robots.txt matches"}}
	found := false
	for _, a := range f.agents {
		if !match(a.value) {
			continue
		}
		found = true
		chosen[a.block] = true
		if d := f.delays[a.run]; d.set {
			g.delay = delay{value: max(g.delay.value, d.value), set: true}
		}
	}
	if !found {
		return nil
	}
	var lines []ruleLine
	for i, b := range f.blocks {
		if chosen[i] {
			lines = append(lines, f.rules[b.from:b.to]...)
		}
	}
	g.rules, g.texts, g.index = f.opts.compile(lines)
	return g
}

// robotsPath is always allowed (RFC 9309 section 2.2.2).
const robotsPath = "/robots.txt"

var robotsRule = Rule{Allow: true, Text: "/robots.txt itself is always allowed"}

// MaxSearch is how much one decision searches for what follows a wildcard: the number of
// rules with wildcards that may apply, times the octets of the URL. Only very long URLs
// under thousands of such rules need more. They are disallowed: a rule that was not tried
// may disallow them.
const MaxSearch = 4 << 20

var searchRule = Rule{Text: "robots.txt has too many rules with wildcards for a URL of this length"}

// Allowed reports whether the crawler may fetch url, and by which rule. It ignores
// scheme and host. The longest matching rule decides, an allow rule among equals;
// without a match, the URL is allowed. If the decision takes more than MaxSearch, it is
// disallowed.
func (g *Group) Allowed(url page.URL) (allowed bool, rule Rule) {
	path := pathQuery(string(url))
	if path == robotsPath {
		return true, robotsRule
	}
	if !g.opts.Verbatim {
		path = canonical(path)
	}
	best, left := g.index.find(path, len(g.rules), MaxSearch)
	if !g.opts.Verbatim {
		if folded := foldQuery(path); folded != path {
			best, left = g.index.find(folded, best, left)
		}
	}
	if left < 0 {
		return false, searchRule
	}
	if best == len(g.rules) {
		return g.fallback.Allow, g.fallback
	}
	rule = g.rule(best)
	return rule.Allow, rule
}

// rule returns the i-th rule by precedence.
func (g *Group) rule(i int) Rule {
	var from uint32
	if i > 0 {
		from = g.rules[i-1].end
	}
	r := g.rules[i]
	return Rule{Allow: r.allow, Line: int(r.line), Text: g.texts[from:r.end]}
}

// CrawlDelay returns the pause that the file asks for between two fetches, and whether
// it asks for one. The value is as written, even if it is hours: the caller has to cap
// it. Crawl-delay is not in RFC 9309; see File for which agents a line concerns.
func (g *Group) CrawlDelay() (time.Duration, bool) { return g.delay.value, g.delay.set }

// Wildcard reports that the file has no group for the crawler but one for "*".
func (g *Group) Wildcard() bool { return g.wildcard }

// Rule is what decided on a URL.
type Rule struct {
	// Allow is the decision.
	Allow bool
	// Line is the number of the rule's line, from 1 on; 0 if no line decided.
	Line int
	// Text is the line without comment ("Disallow: /private/"), or an explanation if no
	// line decided.
	Text string
}

// String describes the rule for users.
func (r Rule) String() string {
	if r.Line == 0 {
		return r.Text
	}
	return fmt.Sprintf("robots.txt line %d: %s", r.Line, r.Text)
}

// Fingerprint is equal for groups that allow the same by the same rules, wherever these
// stand in their files. Equal rules in another order may have another fingerprint.
func (g *Group) Fingerprint() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%t %t %v", g.fallback.Allow, g.opts.Verbatim, len(g.rules)) // a hash does not fail
	for i := range g.rules {
		r := g.rule(i)
		_, _ = fmt.Fprintf(h, " %t %q", r.Allow, r.Text)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
