// Package assets holds what all pages share: the style sheet with a light and a dark colour
// scheme, small scripts, the icon, the layout, and the formatting of numbers. Everything is
// embedded in the program; pages load nothing from other servers.
package assets

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// Prefix is the path under which the files are served.
const Prefix = "/assets/"

//go:embed files
var embedded embed.FS

var files = NewFiles(Prefix, embedded)

//go:embed templates/layout.html
var layout string

// types maps extensions to media types. Files with other extensions are not served.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// Layout returns the template that is common to all pages. A page defines the templates
// "title", "main" and, optionally, "head", and executes "layout" with data that embeds
// [Frame].
func Layout() (*template.Template, error) {
	t, err := template.New("layout.html").Funcs(template.FuncMap{"asset": URL}).Parse(layout)
	if err != nil {
		return nil, fmt.Errorf("assets: layout: %w", err)
	}
	return t, nil
}

// Frame is the data of the layout. The data of each page embeds it.
type Frame struct {
	Nav   string // current entry of the navigation: "search", "status", or ""
	Query string // text in the search field at the top
	Bare  bool   // no search field at the top, because the page has its own
	Live  bool   // link to the status page
	Notes []string
}

// URL returns the URL of a shared file.
func URL(name string) string { return files.URL(name) }

// Handler serves the shared files.
func Handler() http.Handler { return files }

// Files serves the files in the directory "files" of a program by name, without a listing.
type Files struct {
	prefix string // of their paths
	fs     embed.FS
	// sums holds the first digits of each file's digest. They are part of its URL, so that
	// browsers can cache a file forever and still load a new one when the program changes.
	sums map[string]string
}

// NewFiles serves files under a prefix.
func NewFiles(prefix string, from embed.FS) *Files {
	f := &Files{prefix: prefix, fs: from, sums: make(map[string]string)}
	entries, err := fs.ReadDir(from, "files")
	if err != nil {
		return f // there are none
	}
	for _, e := range entries {
		if b, err := from.ReadFile("files/" + e.Name()); err == nil {
			sum := sha256.Sum256(b)
			f.sums[e.Name()] = hex.EncodeToString(sum[:6])
		}
	}
	return f
}

// URL returns the URL of a file.
func (f *Files) URL(name string) string { return f.prefix + name + "?v=" + f.sums[name] }

// ServeHTTP implements http.Handler.
func (f *Files) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, f.prefix)
	mediaType := types[path.Ext(name)]
	b, err := f.fs.ReadFile("files/" + name)
	if err != nil || mediaType == "" {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("ETag", `"`+f.sums[name]+`"`)
	h.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == f.sums[name] {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
}
