package robots

import (
	"cmp"
	"slices"
	"strings"
)

// pattern is the path of a rule, ready to match: literal text in canonical form, cut at
// the wildcards.
//
//	/a*b*c$    prefix "/a", rest "b" "c", anchored
//	/a         prefix "/a"
type pattern struct {
	prefix   string
	rest     []string
	anchored bool // "$": the end of the path must be reached
}

// parsePattern cuts path at its wildcards (RFC 9309 section 2.2.3) and passes the
// pieces through escape. "$" is special only at the end.
func parsePattern(path string, escape func(string) string) pattern {
	path, anchored := strings.CutSuffix(path, "$")
	prefix, more, found := strings.Cut(path, "*")
	p := pattern{prefix: escape(prefix), anchored: anchored}
	for found {
		var piece string
		piece, more, found = strings.Cut(more, "*")
		// "**" is "*". A last empty piece only matters before "$".
		if piece != "" || !found && anchored {
			p.rest = append(p.rest, escape(piece))
		}
	}
	return p
}

// fold applies foldQuery to what follows the first literal question mark of the
// pattern, and reports whether that changed anything.
func (p pattern) fold() (pattern, bool) {
	folded := pattern{prefix: foldQuery(p.prefix), anchored: p.anchored}
	changed := folded.prefix != p.prefix
	inQuery := strings.Contains(p.prefix, "?")
	for _, piece := range p.rest {
		f := foldQuery(piece)
		if inQuery {
			f = queryFolder.Replace(piece)
		}
		inQuery = inQuery || strings.Contains(piece, "?")
		changed = changed || f != piece
		folded.rest = append(folded.rest, f)
	}
	return folded, changed
}

// matchRest reports whether s, which follows the prefix, matches the rest. It looks for
// each piece once, from where the one before ended, and takes the leftmost occurrence:
// if any match exists, one with leftmost pieces does. So the time is linear in the
// length of s, however many wildcards there are.
func (p pattern) matchRest(s string) bool {
	if len(p.rest) == 0 {
		return !p.anchored || s == ""
	}
	for i, piece := range p.rest {
		if p.anchored && i == len(p.rest)-1 {
			return strings.HasSuffix(s, piece)
		}
		at := strings.Index(s, piece)
		if at < 0 {
			return false
		}
		s = s[at+len(piece):]
	}
	return true
}

// index finds the deciding rule for a path among many. Patterns are grouped by their
// literal prefix. A path can only match patterns whose prefix it begins with, so there
// is one map lookup for each length that occurs. A file of maximum size has under a
// thousand such lengths, ordinary files a dozen.
//
// Patterns with a wildcard after the same prefix are tried one by one, each in linear
// time. The worst case within the limits on files and URLs, 20,000 such rules that
// nearly match a URL of 8 KiB everywhere, takes some 50 ms (BenchmarkAllowed); plain
// rules do not add to the time of a decision.
type index struct {
	patterns []indexed
	byPrefix map[string][]int32 // numbers of patterns, highest precedence first
	lengths  []int              // of the prefixes, ascending
}

type indexed struct {
	pattern
	rule int // lower numbers take precedence
}

// add adds a pattern. Rules must be added in the order of their precedence.
func (x *index) add(p pattern, rule int) {
	if x.byPrefix == nil {
		x.byPrefix = map[string][]int32{}
	}
	if _, known := x.byPrefix[p.prefix]; !known {
		if i, ok := slices.BinarySearch(x.lengths, len(p.prefix)); !ok {
			x.lengths = slices.Insert(x.lengths, i, len(p.prefix))
		}
	}
	x.byPrefix[p.prefix] = append(x.byPrefix[p.prefix], int32(len(x.patterns)))
	x.patterns = append(x.patterns, indexed{p, rule})
}

// find returns the matching rule of the highest precedence below limit, or limit if
// there is none.
func (x *index) find(path string, limit int) int {
	for _, n := range x.lengths {
		if n > len(path) {
			break
		}
		for _, i := range x.byPrefix[path[:n]] {
			p := &x.patterns[i]
			if p.rule >= limit {
				break
			}
			if p.matchRest(path[n:]) {
				limit = p.rule
				break
			}
		}
	}
	return limit
}

// compile sorts rules by precedence and prepares them for matching.
//
// The rule with the most octets wins, counting wildcards as written; among equally long
// ones an allow rule (RFC 9309 section 2.2.2); then the line that comes first, which
// matters only for the explanation.
func (o Options) compile(lines []ruleLine) ([]Rule, index) {
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
	rules := make([]Rule, 0, len(candidates))
	var x index
	for i, c := range candidates {
		rules = append(rules, Rule{Allow: c.allow, Line: int(c.line), Text: c.text})
		x.add(c.pattern, i)
		if folded, changed := c.pattern.fold(); changed && !o.Verbatim {
			x.add(folded, i)
		}
	}
	return rules, x
}

func (o Options) escape() func(string) string {
	if o.Verbatim {
		return escapeVerbatim
	}
	return canonical
}

// octets is the length of the pattern as compared, including its wildcards; path is its
// source.
func (p pattern) octets(path string) int {
	n := len(p.prefix) + strings.Count(path, "*")
	for _, piece := range p.rest {
		n += len(piece)
	}
	if p.anchored {
		n++
	}
	return n
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
