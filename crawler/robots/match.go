package robots

import (
	"cmp"
	"slices"
	"strings"
)

// index finds the deciding rule for a path among many. Patterns are sorted by their literal
// prefix. A path can only match patterns whose prefix it begins with, so there is one search
// for each length that occurs. A file of maximum size has under a thousand such lengths,
// ordinary files a dozen.
//
// Patterns with a wildcard after the same prefix are tried one by one, each in linear
// time. MaxSearch bounds their number times the length of the URL: without it, 20,000
// such rules that nearly match a URL of 8 KiB everywhere would take some 50 ms
// (BenchmarkAllowed). Plain rules do not add to the time of a decision.
//
// A crawler keeps the rules of many hosts. So all text is in one string.
type index struct {
	text     string
	patterns []indexed // by prefix, then by rule
	lengths  []int     // of the prefixes, ascending
}

// indexed is the pattern text[from:to], whose prefix is text[from:prefix].
type indexed struct {
	from, prefix, to uint32
	rule             int32 // lower numbers take precedence
}

func (x *index) prefix(p indexed) string { return x.text[p.from:p.prefix] }

// newIndex indexes patterns; rules has the number of the rule of each.
func newIndex(patterns []pattern, rules []int32) index {
	size := 0
	for _, p := range patterns {
		size += len(p)
	}
	var text strings.Builder
	text.Grow(size)
	x := index{patterns: make([]indexed, 0, len(patterns))}
	for i, p := range patterns {
		from, prefix := text.Len(), p.prefix()
		text.WriteString(string(p))
		x.patterns = append(x.patterns, indexed{uint32(from), uint32(from + prefix), uint32(text.Len()), rules[i]})
		x.lengths = append(x.lengths, prefix)
	}
	x.text = text.String()
	slices.SortFunc(x.patterns, func(a, b indexed) int {
		return cmp.Or(strings.Compare(x.prefix(a), x.prefix(b)), cmp.Compare(a.rule, b.rule))
	})
	slices.Sort(x.lengths)
	x.lengths = slices.Clone(slices.Compact(x.lengths))
	return x
}

// find returns the matching rule of the highest precedence below limit, or limit if
// there is none. It also returns what is left of budget, the octets that it may search for
// what follows a wildcard. If that is negative, find has given up, and the rule is not known.
func (x *index) find(path string, limit, budget int) (rule, left int) {
	rest := x.patterns
	for _, n := range x.lengths {
		if n > len(path) {
			break
		}
		first, _ := slices.BinarySearchFunc(rest, path[:n], func(p indexed, prefix string) int {
			return strings.Compare(x.prefix(p), prefix)
		})
		rest = rest[first:] // longer prefixes come later
		for _, p := range rest {
			if int(p.rule) >= limit || x.prefix(p) != path[:n] {
				break
			}
			if p.prefix < p.to {
				if budget -= len(path) - n; budget < 0 {
					return limit, budget
				}
			}
			if matchRest(x.text[p.prefix:p.to], path[n:]) {
				limit = int(p.rule)
				break
			}
		}
	}
	return limit, budget
}

// compiled is a rule in the order of precedence. Its text ends at end, and begins where that
// of the rule before ends.
type compiled struct {
	end   uint32
	line  int32
	allow bool
}

// compile sorts rules by precedence and prepares them for matching. It also returns their texts.
//
// The rule with the most octets wins, counting wildcards as written; among equally long
// ones an allow rule (RFC 9309 section 2.2.2); then the line that comes first, which
// matters only for the explanation.
func (o Options) compile(lines []ruleLine) (rules []compiled, texts string, _ index) {
	type candidate struct {
		ruleLine
		pattern pattern
		octets  int
	}
	candidates := make([]candidate, 0, len(lines))
	add := func(r ruleLine, path string) {
		p := parsePattern(path, o.escape())
		candidates = append(candidates, candidate{r, p, p.octets(path)})
	}
	for _, r := range lines {
		add(r, r.path)
		if directory, ok := indexDirectory(r.path); ok && r.allow && o.IndexIsDirectory {
			add(r, directory)
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.octets, a.octets), compareAllow(a.allow, b.allow), cmp.Compare(a.line, b.line))
	})
	rules = make([]compiled, 0, len(candidates))
	var patterns []pattern
	var of []int32
	var text strings.Builder
	for i, c := range candidates {
		text.WriteString(c.text)
		rules = append(rules, compiled{uint32(text.Len()), c.line, c.allow})
		patterns, of = append(patterns, c.pattern), append(of, int32(i))
		if folded := pattern(foldQuery(string(c.pattern))); folded != c.pattern && !o.Verbatim {
			patterns, of = append(patterns, folded), append(of, int32(i))
		}
	}
	return rules, strings.Clone(text.String()), newIndex(patterns, of)
}

func (o Options) escape() func(string) string {
	if o.Verbatim {
		return escapeVerbatim
	}
	return canonical
}

func compareAllow(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// indexDirectory turns "/dir/index.html" into "/dir/$".
func indexDirectory(path string) (string, bool) {
	slash := strings.LastIndexByte(path, '/')
	if slash < 0 || !strings.HasPrefix(path[slash+1:], "index.htm") {
		return "", false
	}
	return path[:slash+1] + "$", true
}

// pathQuery returns what rules are matched against: the path and query of a URL,
// without fragment, "/" if there is no path.
//
// For a page.URL, which is canonical, this is what follows the authority. It also
// handles strings that are not URLs ("", "example.com/a"), which reach Allowed in the
// conformance suites.
func pathQuery(url string) string {
	url, _, _ = strings.Cut(url, "#")
	rest, relative := strings.CutPrefix(url, "//")
	if !relative {
		if scheme, after, ok := strings.Cut(url, "://"); ok && !strings.ContainsAny(scheme, "/?;") {
			rest = after
		}
	}
	i := strings.IndexAny(rest, "/?;")
	switch {
	case i < 0:
		return "/"
	case rest[i] != '/':
		return "/" + rest[i:]
	default:
		return rest[i:]
	}
}
