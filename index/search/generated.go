package search

import (
	"strings"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/page"
)

// Documentation programs make pages of other pages: the source code that a reference is about, an index
// of all words, the whole manual on one page for printing. Such a page has the words of many
// queries, and often their titles. But the page that a person wrote is the answer. So generated pages
// count less, unless the query is their title (content.go). Their addresses identify them, because the
// programs choose these: nobody else calls a directory _modules.

// generatedPlaces has directories of listings of source code, as Sphinx and Javadoc name them.
var generatedPlaces = analysis.WordSet("_modules _sources src-html")

// generatedNames has the names of single pages: pages of Sphinx, Javadoc and mdBook, and the page that
// a server shows for a missing one.
var generatedNames = analysis.WordSet("genindex py-modindex modindex index-all allclasses allclasses-index allclasses-frame allpackages-index print 404")

// isGenerated reports whether a program made a page of others.
func isGenerated(u page.URL) bool {
	path := strings.TrimPrefix(u.Path(), "/")
	for {
		segment, rest, more := strings.Cut(path, "/")
		if !more {
			break
		}
		if generatedPlaces[segment] {
			return true
		}
		path = rest
	}
	name, ending, _ := strings.Cut(path, ".")
	switch {
	case ending == "rs.html", ending == "html" && isDoxygenSource(name): // rustdoc, Doxygen
		return true
	case ending == "html" && (strings.HasPrefix(name, "genindex-") || strings.HasSuffix(name, "-Index")):
		return true
	}
	return ending == "html" && generatedNames[name]
}

// isDoxygenSource reports whether a name is that of a listing: lamp.h is lamp_8h_source there.
func isDoxygenSource(name string) bool {
	file, listing := strings.CutSuffix(name, "_source")
	i := strings.LastIndex(file, "_8")
	return listing && i > 0 && len(file) > i+2 && strings.IndexFunc(file[i+2:], func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}
