package page

import (
	"net/http"
	"strings"
)

// RobotName is the name under which X-Robots-Tag may address this robot alone.
const RobotName = "indexer"

// robots gathers the directives that matter here. They only ever add up: a
// second tag cannot take back what a first one forbids.
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
// it after a comma, may begin with the name of the robot it is for and a colon;
// the name holds until the next one. What is addressed to other robots is left
// out, what is addressed to nobody is for all.
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

// hasValue tells directives that take a value after a colon from robots' names.
// A date after unavailable_after may hold colons and commas of its own; its
// parts look like a robot's name only when they hold no digit before the colon.
func hasValue(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return name == "unavailable_after" || strings.HasPrefix(name, "max-") || strings.ContainsAny(name, " \t")
}
