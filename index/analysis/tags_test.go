package analysis

import (
	"net/url"
	"slices"
	"testing"

	"github.com/webindexer/indexer/page"
)

func TestFileTypes(t *testing.T) {
	for path, want := range map[string][]string{
		"/":                   {"html"},
		"/guide":              {"html"},
		"/v2.4":               {"html"},
		"/a.html":             {"html"},
		"/a.PHP":              {"php", "html"},
		"/notes.txt":          {"txt"},
		"/script.pl":          {"pl"}, // Polish, or Perl
		"/index.html.de":      {"html"},
		"/index.html.pt-br":   {"html"},
		"/index.php.fr":       {"php", "html"},
		"/index.html.gz":      {"gz"},
		"/notes.txt.de":       {"de"},
		"/index.html.d/x.txt": {"txt"},
		"/index.html.old":     {"old"},
	} {
		u := &url.URL{Scheme: "https", Host: "a.example", Path: path}
		if got := fileTypes(u); !slices.Equal(got, want) {
			t.Errorf("fileTypes(%s) = %q, want %q", path, got, want)
		}
		if got := FileTypeOf(page.URL(u.String())); got != want[len(want)-1] {
			t.Errorf("FileTypeOf(%s) = %q, want %q", path, got, want[len(want)-1])
		}
	}
}
