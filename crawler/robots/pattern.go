package robots

import "strings"

// pattern is the path of a rule, ready to match: literal text in canonical form, with
// anything and theEnd in place of the special characters. Escaped text is ASCII and has
// neither.
//
//	/a*b*c$    "/a" anything "b" anything "c" theEnd
//	/a         "/a"
type pattern string

const (
	anything = "\xff" // "*"
	theEnd   = "\xfe" // "$"
)

// parsePattern cuts path at its wildcards (RFC 9309 section 2.2.3) and passes the
// pieces through escape. "$" is special only at the end.
func parsePattern(path string, escape func(string) string) pattern {
	path, anchored := strings.CutSuffix(path, "$")
	prefix, more, found := strings.Cut(path, "*")
	var p strings.Builder
	p.WriteString(escape(prefix))
	for found {
		var piece string
		piece, more, found = strings.Cut(more, "*")
		// "**" is "*". A last empty piece only matters before "$".
		if piece != "" || !found && anchored {
			p.WriteString(anything + escape(piece))
		}
	}
	if anchored {
		p.WriteString(theEnd)
	}
	return pattern(p.String())
}

// octets is the length of the pattern as compared, including its wildcards; path is its
// source.
func (p pattern) octets(path string) int {
	return len(p) - strings.Count(string(p), anything) + strings.Count(path, "*")
}

// prefix is the length of the literal text at the beginning of the pattern.
func (p pattern) prefix() int {
	for i := range len(p) {
		if p[i] >= theEnd[0] {
			return i
		}
	}
	return len(p)
}

// matchRest reports whether s matches rest, which follows the prefix of a pattern. It looks
// for each piece once, from where the one before ended, and takes the leftmost occurrence:
// if any match exists, one with leftmost pieces does. So the time is linear in the length
// of s, however many wildcards there are.
func matchRest(rest, s string) bool {
	rest, anchored := strings.CutSuffix(rest, theEnd)
	if rest == "" {
		return !anchored || s == ""
	}
	for more := true; more; {
		var piece string
		piece, rest, more = strings.Cut(strings.TrimPrefix(rest, anything), anything)
		if !more && anchored {
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
