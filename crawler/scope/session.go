package scope

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/webindexer/indexer/page"
)

// Session ids give every visit its own URLs for the same pages.

// sessionNames are names of parameters that only ever hold session ids.
var sessionNames = map[string]bool{
	"jsessionid": true, "phpsessid": true, "phpsession": true, "asp.net_sessionid": true, "cftoken": true,
	"oscsid": true, "xtcsid": true, "zenid": true, "mscssid": true, "sessid": true,
}

// maybeNames are names that also have other uses (the id of a section, a session of a
// conference): the value decides. A bare "s" is not one of them, because it is more
// often a search.
var maybeNames = map[string]bool{
	"sid": true, "session": true, "sessionid": true, "session_id": true, "session-id": true, "sess": true,
}

// minToken is the length from which a value of letters and digits counts as random.
// Session ids have 26 and more; numbers of things are shorter.
const minToken = 16

// aspSession is a session id in the path, as ASP.NET writes it: /(S(abc...))/.
var aspSession = regexp.MustCompile(`^\((?:[A-Z]\([A-Za-z0-9]*\))*S\([A-Za-z0-9]{8,}\)(?:[A-Z]\([A-Za-z0-9]*\))*\)$`)

func (t *Traps) session(u page.URL, path, query string) (Decision, bool) {
	if !t.config.Sessions {
		return Decision{}, false
	}
	cleanPath, inPath := pathWithoutSession(path)
	cleanQuery, inQuery := withoutSession(query, "&")
	name := cmp.Or(inPath, inQuery)
	if name == "" {
		return Decision{}, false
	}
	d := refuse("trap.session", fmt.Sprintf("has a session id in it (%s)", name))
	clean := strings.TrimSuffix(strings.TrimSuffix(string(u), "?"+query), path) + cleanPath
	if cleanQuery != "" {
		clean += "?" + cleanQuery
	}
	if without, err := page.ParseURL(clean); err == nil && without != u {
		d.Instead = without
	}
	return d, true
}

// pathWithoutSession removes parameters (";jsessionid=1") and segments that are session
// ids, and returns the name of the first.
func pathWithoutSession(path string) (clean, name string) {
	if !strings.ContainsAny(path, ";(") {
		return path, ""
	}
	segments := strings.Split(path, "/")
	kept := segments[:0]
	for _, segment := range segments {
		if aspSession.MatchString(segment) {
			name = cmp.Or(name, "(S(...))")
			continue
		}
		head, parameters, found := strings.Cut(segment, ";")
		if found {
			rest, session := withoutSession(parameters, ";")
			name = cmp.Or(name, session)
			segment = head
			if rest != "" || session == "" {
				segment += ";" + rest
			}
		}
		kept = append(kept, segment)
	}
	clean = strings.Join(kept, "/")
	if !strings.HasPrefix(clean, "/") {
		clean = "/" + clean
	}
	return clean, name
}

// withoutSession removes session ids from a list of name=value, and returns the name of
// the first. An empty list stays as it is. CFID is removed with CFTOKEN, its other
// half.
func withoutSession(list, separator string) (clean, name string) {
	parts := strings.Split(list, separator)
	kept := parts[:0:0]
	for _, part := range parts {
		if key, ok := sessionKey(part); ok {
			name = cmp.Or(name, key)
			continue
		}
		kept = append(kept, part)
	}
	if strings.EqualFold(name, "cftoken") {
		kept = slices.DeleteFunc(kept, func(part string) bool {
			key, _, _ := strings.Cut(part, "=")
			return strings.EqualFold(key, "cfid")
		})
	}
	return strings.Join(kept, separator), name
}

// sessionKey reports whether name=value is a session id, and its name.
func sessionKey(part string) (name string, ok bool) {
	name, value, hasValue := strings.Cut(part, "=")
	lower := strings.ToLower(name)
	switch {
	case !hasValue:
		return "", false
	case sessionNames[lower], strings.HasPrefix(lower, "aspsessionid"):
		return name, true
	}
	return name, maybeNames[lower] && isToken(value)
}

// isToken reports whether a value looks random: long, with both letters and digits.
func isToken(s string) bool {
	if len(s) < minToken {
		return false
	}
	digits, letters := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			letters++
		case c != '-' && c != '_':
			return false
		}
	}
	return digits >= 2 && letters >= 2
}
