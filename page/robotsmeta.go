package page

import (
	"net/http"
	"strings"
)

// RobotName is the name by which X-Robots-Tag can address this robot alone.
const RobotName = "indexer"

// robots collects the directives that matter here. They are cumulative: a later tag cannot
// revoke what an earlier one forbids.
type robots struct {
	noIndex, noFollow bool
}

// add reads one comma-separated list, as in <meta name=robots content="...">.
func (r *robots) add(list string) {
	for directive := range strings.SplitSeq(list, ",") {
		r.directive(directive)
	}
}

func (r *robots) directive(s string) {
	for word := range strings.FieldsSeq(s) {
		switch strings.ToLower(word) {
		case "noindex":
			r.noIndex = true
		case "nofollow":
			r.noFollow = true
		case "none":
			r.noIndex, r.noFollow = true, true
		}
	}
}

// addHeader reads the X-Robots-Tag fields of a response. A field, or a part of
// it after a comma, may begin with the name of a robot and a colon, which then applies
// until the next name. Directives for other robots are skipped; directives without a name
// are for all.
func (r *robots) addHeader(h http.Header) {
	for _, field := range h.Values("X-Robots-Tag") {
		forUs := true
		for part := range strings.SplitSeq(field, ",") {
			if name, rest, ok := strings.Cut(part, ":"); ok && !hasValue(name) {
				name = strings.TrimSpace(name)
				forUs = name == "*" || strings.EqualFold(name, RobotName)
				part = rest
			}
			if forUs {
				r.directive(part)
			}
		}
	}
}

// hasValue distinguishes directives that take a value after a colon from names of robots.
// A date after unavailable_after may hold colons and commas of its own; a part of it looks
// like a robot's name only if it has no space before the colon.
func hasValue(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return name == "unavailable_after" || strings.HasPrefix(name, "max-") || strings.ContainsAny(name, " \t")
}
