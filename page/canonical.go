package page

import (
	"net/http"
	"strings"
)

// headerCanonicals lists the targets, as written, of the response's Link fields
// with the relation "canonical" (RFC 8288 section 3). A link with an anchor
// parameter is about another resource and is skipped.
func headerCanonicals(h http.Header) []string {
	var refs []string
	for _, field := range h.Values("Link") {
		for field != "" {
			var link linkValue
			link, field = nextLinkValue(field)
			if !link.hasAnchor && hasToken(link.rel, "canonical") {
				refs = append(refs, link.target)
			}
		}
	}
	return refs
}

// linkValue is one link of a Link field.
type linkValue struct {
	target    string
	rel       string // first rel parameter; later ones do not count (section 3.3)
	hasRel    bool
	hasAnchor bool
}

// nextLinkValue reads the first link of s and returns the rest of s. It tolerates
// malformed input, and always consumes some of it.
func nextLinkValue(s string) (link linkValue, rest string) {
	_, s, found := strings.Cut(s, "<")
	if !found {
		return linkValue{}, ""
	}
	link.target, s, _ = strings.Cut(s, ">")
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || s[0] == ',' {
			return link, strings.TrimPrefix(s, ",")
		}
		if s[0] != ';' {
			// Not a parameter: skip to the next parameter or link.
			if i := strings.IndexAny(s, ";,"); i >= 0 {
				s = s[i:]
				continue
			}
			return link, ""
		}
		var name, value string
		name, value, s = nextParameter(s[1:])
		switch {
		case name == "rel" && !link.hasRel:
			link.rel, link.hasRel = value, true
		case name == "anchor":
			link.hasAnchor = true
		}
	}
}

// nextParameter reads name, name=token or name="quoted string".
func nextParameter(s string) (name, value, rest string) {
	end := strings.IndexAny(s, "=;,")
	if end < 0 {
		end = len(s)
	}
	name = strings.ToLower(strings.Trim(s[:end], " \t"))
	s = s[end:]
	if s == "" || s[0] != '=' {
		return name, "", s
	}
	s = strings.TrimLeft(s[1:], " \t")
	if strings.HasPrefix(s, `"`) {
		value, rest = quotedString(s[1:])
		return name, value, rest
	}
	end = strings.IndexAny(s, ";,")
	if end < 0 {
		end = len(s)
	}
	return name, strings.Trim(s[:end], " \t"), s[end:]
}

// quotedString reads up to the closing quote and decodes backslash escapes.
func quotedString(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// hasToken reports whether a space-separated list, such as rel, has the token.
func hasToken(list, token string) bool {
	for word := range strings.FieldsSeq(list) {
		if strings.EqualFold(word, token) {
			return true
		}
	}
	return false
}
