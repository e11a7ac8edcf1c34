package page

import "strings"

// parseRefresh reads the content of <meta http-equiv=refresh> by the "shared
// declarative refresh steps" of the HTML standard. zero reports a delay of 0 (fractions are
// dropped, so 0.5 counts as 0), and ref is the URL as written, or "" if there is none.
// ok is false for content that does not refresh at all.
func parseRefresh(content string) (zero bool, ref string, ok bool) {
	s := strings.TrimLeft(content, htmlSpace)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits == 0 && !strings.HasPrefix(s, ".") {
		return false, "", false
	}
	zero = strings.Trim(s[:digits], "0") == ""
	s = strings.TrimLeft(s[digits:], "0123456789.")
	if s == "" {
		return zero, "", true
	}
	if !strings.ContainsRune(";,"+htmlSpace, rune(s[0])) {
		return false, "", false
	}
	s = strings.TrimLeft(s, htmlSpace)
	if s != "" && (s[0] == ';' || s[0] == ',') {
		s = strings.TrimLeft(s[1:], htmlSpace)
	}
	return zero, refreshURL(s), true
}

// refreshURL strips "url=" and quotes. Both are optional. An incomplete "url=" is itself
// the URL.
func refreshURL(s string) string {
	if len(s) >= 3 && strings.EqualFold(s[:3], "url") {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(s[3:], htmlSpace), "="); ok {
			s = strings.TrimLeft(rest, htmlSpace)
		}
	}
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		quote := s[:1]
		s, _, _ = strings.Cut(s[1:], quote)
	}
	return strings.TrimRight(s, htmlSpace)
}

// htmlSpace is what HTML calls ASCII whitespace.
const htmlSpace = " \t\n\f\r"
