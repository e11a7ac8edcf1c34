package robots

import "strings"

// pattern is the path of a rule, ready to match: literal text in canonical form,
// cut at the wildcards.
//
//	/a*b*c$    prefix "/a", rest "b" "c", anchored
//	/a         prefix "/a"
type pattern struct {
	prefix   string
	rest     []string
	anchored bool // "$": the end of the path must be reached
}

// parsePattern cuts path at its wildcards (RFC 9309 section 2.2.3) and brings the
// pieces into the form that escape gives. "$" is special at the end only.
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

// fold is the pattern with foldQuery applied to what follows its first literal
// question mark, and whether that changed anything.
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

// matchRest tells whether s, which follows the prefix, matches the rest. Each
// piece is looked for once, from where the one before ended, and the leftmost
// occurrence is taken: if any match exists, one with leftmost pieces does. So the
// time is linear in the length of s however many wildcards there are.
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
