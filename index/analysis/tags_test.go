package analysis

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webindexer/indexer/page"
)

// TestPercentSigns: a percent sign that begins no escape changes nothing else about an address.
func TestPercentSigns(t *testing.T) {
	for u, want := range map[page.URL]string{
		"https://a.example/100%/caf%C3%A9.pdf":      "a.example /100%/café.pdf",
		"https://a.example/x.pdf?q=50%&r=caf%C3%A9": "a.example /x.pdf q=50%&r=café",
		"https://a.example/%%41%4.pdf":              "a.example /%A%4.pdf",
		"https://a.example/x.pdf?%":                 "a.example /x.pdf %",
	} {
		if got := readableURL(u); got != want {
			t.Errorf("%s reads %q, want %q", u, got, want)
		}
		if got := FileTypeOf(u); got != "pdf" {
			t.Errorf("%s has the file type %q", u, got)
		}
		if got, want := tags(u, ""), tags("https://a.example/x.pdf", ""); got != want {
			t.Errorf("%s has the tags %q, want %q", u, got, want)
		}
	}
}

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

// TestTag: a tag is one token for FTS5, and has its value, whatever bytes that has.
func TestTag(t *testing.T) {
	for b := range 256 {
		value := "x" + string([]byte{byte(b)}) + "y"
		tag := Tag(TagSite, value)
		if strings.ContainsFunc(tag, func(r rune) bool { return r < utf8.RuneSelf && (r == 0 || asciiFold[r] != byte(r)) }) {
			t.Errorf("%q: %q is not one token", value, tag)
		}
		if got := TagValue(tag); got != value {
			t.Errorf("%q: %q has the value %q", value, tag, got)
		}
	}
}
