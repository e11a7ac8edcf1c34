package robots

import "strings"

// pathQuery is what rules are matched against: the path and query of a URL,
// without fragment, "/" if there is no path.
//
// For a page.URL, which is canonical, this is what follows the authority. It also
// copes with what is no URL at all ("", "example.com/a"), for such strings reach
// Allowed in the conformance suites.
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
