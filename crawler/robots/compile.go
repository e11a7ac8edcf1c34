package robots

import (
	"cmp"
	"slices"
	"strings"
)

// compile sorts rules by precedence and makes them ready to match.
//
// The rule with the most octets wins, wildcards counted as written; of equally
// long ones an allow rule (RFC 9309 section 2.2.2); then the line that comes first,
// which matters for the explanation only.
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

// octets is the length of the pattern as compared, with its wildcards; path is
// what it was made of.
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
