package search

import (
	"testing"

	"github.com/webindexer/indexer/page"
)

func TestGenerated(t *testing.T) {
	for path, want := range map[string]bool{
		"/_modules/lamp.html":         true,
		"/a/src-html/Lamp.html":       true,
		"/genindex.html":              true,
		"/genindex-A.html":            true,
		"/a/print.html":               true,
		"/404.html":                   true,
		"/a/Concept-Index.html":       true,
		"/lamp_8h_source.html":        true,
		"/src/lamp/lib.rs.html":       true,
		"/":                           false,
		"/404/":                       false,
		"/errors/404-not-found.html":  false,
		"/a/Index.html":               false,
		"/Tides-Index/":               false,
		"/lamp-index.html":            false,
		"/modules/lamp.html":          false,
		"/printing.html":              false,
		"/a/lamp_source.html":         false,
		"/genindex":                   false,
		"/how-to-read-genindex.html":  false,
		"/a/_modules.html":            false,
		"/?page=/_modules/lamp.html":  false,
		"/a/Concept-Index.html?x=1":   true,
		"/a/allclasses-index.html.de": false,
	} {
		if got := isGenerated(page.URL("https://a.example" + path)); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
