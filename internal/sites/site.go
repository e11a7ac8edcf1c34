package sites

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/webindexer/indexer/page"
)

// Site is a small web and its history.
type Site struct {
	// Name is the file's name without directory and extension.
	Name string
	// Comment is the text before the first fetch.
	Comment string

	entries []entry
}

// entry is a fetch in two forms: as a page.Fetch, and as a server sends it.
type entry struct {
	line  int // line in the file, from 1
	fetch page.Fetch

	wireHeader http.Header
	wireBody   []byte
}

// Fetches returns the fetches in the order of the file, which is their order of arrival.
// They equal what package warc reads from the packed site, except for error texts and the
// Content-Length field. The caller must not change headers and bodies.
func (s *Site) Fetches() []page.Fetch {
	fetches := make([]page.Fetch, len(s.entries))
	for i := range s.entries {
		fetches[i] = s.entries[i].fetch
	}
	return fetches
}

// Error is a mistake in a site's text.
type Error struct {
	File string
	Line int // from 1
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the mistake without its place.
func (e *Error) Unwrap() error { return e.Err }

// Load parses the file at path. It returns a mistake in the file as an *Error.
func Load(path string) (*Site, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("load site: %w", err)
	}
	return Parse(path, data)
}

func baseName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
