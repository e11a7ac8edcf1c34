package search

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/webindexer/indexer/index/analysis"
)

// The address of a page is its name if the page has no title, or a title that says nothing
// because other candidates of its host also have it: the second sort compares that name with
// the query, as well as the title (rerank.go). For other pages it does not: the last part of
// their addresses answers some queries better, but is as often the name of something that
// many pages are about (docs/ranking-experiments.md).

// maxName bounds the names that are read, in bytes.
const maxName = 256

// placeholders are names that programs give to the page of a directory.
var placeholders = map[string]bool{"": true, "index": true, "default": true, "home": true, "readme": true}

// nameInPath returns the words of the last segment of a path that names something: "custom
// error" of docs/custom-error.html, "Rebalance Listener" of api/RebalanceListener.html, and
// "rewrite" of docs/rewrite/index.html. It returns "" if the URL has parameters, or that
// segment has no letters.
func nameInPath(path string) string {
	if strings.Contains(path, "?") {
		return ""
	}
	for path != "" {
		rest, last := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			rest, last = path[:i], path[i+1:]
		}
		if i := strings.LastIndexByte(last, '.'); i > 0 && analysis.FileType(last[i+1:]) != "" {
			last = last[:i]
		}
		if !placeholders[strings.ToLower(last)] {
			if decoded, err := url.PathUnescape(last); err == nil {
				last = strings.ToValidUTF8(decoded, " ")
			}
			return spacedName(analysis.Truncate(last, maxName))
		}
		path = rest
	}
	return ""
}

// spacedName returns a name with spaces between its words, or "" if it has no letters.
func spacedName(name string) string {
	var b strings.Builder
	letters := false
	for _, r := range divideIdentifiers(name) {
		if r == '_' || unicode.IsPunct(r) {
			r = ' '
		}
		b.WriteRune(r)
		letters = letters || unicode.IsLetter(r)
	}
	if !letters {
		return ""
	}
	return b.String()
}
