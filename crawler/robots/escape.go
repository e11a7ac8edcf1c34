package robots

import (
	"strings"

	"github.com/webindexer/indexer/page"
)

// canonical brings the octets of a URL's path and query, or of the literal parts of a
// rule, into the form in which they are compared (RFC 9309 section 2.2.2). An escape
// and its octet compare equal unless the difference has a meaning:
//
//	unreserved (letters, digits, - . _ ~)    unescaped
//	! ' ( ) , : @ [ ] $ *                    unescaped: reserved, but without a
//	                                         meaning of their own in http URLs.
//	                                         (%24 and %2A in a rule are how it
//	                                         names $ and * literally, section 2.2.3)
//	/ ? # & = + ;                            unchanged: "/" separates, "%2F" does
//	                                         not
//	all others (controls, blanks, non-ASCII) escaped
//
// Escapes use upper-case hex. A percent sign without two hex digits stays. The RFC
// speaks of encoding the reserved characters, and canonical decodes some: the
// comparison has the same result. In the query, "/" and "?" do not separate; see
// foldQuery.
func canonical(s string) string {
	if isCanonical(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); i++ {
		c, escaped := page.EscapedByte(s[i:])
		if escaped {
			i += 2
		} else {
			c = s[i]
		}
		switch class := classes[c]; {
		case class == plain, class == distinct && !escaped:
			b.WriteByte(c)
		default:
			writeEscape(&b, c)
		}
	}
	return b.String()
}

// isCanonical reports whether there is nothing to do, as in nearly all strings.
func isCanonical(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' || classes[s[i]] == encoded {
			return false
		}
	}
	return true
}

// foldQuery unescapes "/" and "?" in the query of a canonical string. There they are
// data (RFC 3986 section 3.4), and the third example of RFC 9309 section 2.2.2 has
// "?baz=https://foo.bar" and "?baz=https%3A%2F%2Ffoo.bar" match.
//
// It cannot be part of canonical: a rule like "/*%2F" does not say whether it means
// path or query. So URLs and rules are compared in both forms.
func foldQuery(s string) string {
	i := strings.IndexByte(s, '?')
	if i < 0 || strings.IndexByte(s[i:], '%') < 0 {
		return s
	}
	return s[:i] + queryFolder.Replace(s[i:])
}

var queryFolder = strings.NewReplacer("%2F", "/", "%3F", "?")

// escapeVerbatim prepares rules for Options.Verbatim.
func escapeVerbatim(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c, escaped := page.EscapedByte(s[i:])
		switch {
		case escaped:
			writeEscape(&b, c)
			i += 2
		case s[i] >= 0x80:
			writeEscape(&b, s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

type class uint8

const (
	encoded  class = iota // always escaped
	plain                 // never escaped
	distinct              // stays escaped or unescaped, and the difference matters
)

// classes sorts the octets into the classes of canonical. The percent sign is distinct:
// alone it stays alone, and "%25" stays escaped.
var classes = func() (t [256]class) {
	for c := range 256 {
		if isLetter(byte(c)) || isDigit(byte(c)) {
			t[c] = plain
		}
	}
	for _, c := range []byte("-._~!'(),:@[]$*") {
		t[c] = plain
	}
	for _, c := range []byte("/?#&=+;%") {
		t[c] = distinct
	}
	return t
}()

func writeEscape(b *strings.Builder, c byte) {
	const upper = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(upper[c>>4])
	b.WriteByte(upper[c&15])
}
