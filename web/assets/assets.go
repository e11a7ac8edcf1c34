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
var files embed.FS

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

// sums holds the first digits of each file's digest. They are part of its URL, so that
// browsers can cache a file forever and still load a new one when the program changes.
var sums = digests()

func digests() map[string]string {
	m := make(map[string]string)
	entries, err := fs.ReadDir(files, "files")
	if err != nil {
		return m
	}
	for _, e := range entries {
		if b, err := files.ReadFile("files/" + e.Name()); err == nil {
			sum := sha256.Sum256(b)
			m[e.Name()] = hex.EncodeToString(sum[:6])
		}
	}
	return m
}

// URL returns the URL of a file.
func URL(name string) string { return Prefix + name + "?v=" + sums[name] }

// Handler serves the files by name, without a directory listing.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, Prefix)
		mediaType := types[path.Ext(name)]
		b, err := files.ReadFile("files/" + name)
		if err != nil || mediaType == "" {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", mediaType)
		h.Set("ETag", `"`+sums[name]+`"`)
		h.Set("Cache-Control", "no-cache")
		if r.URL.Query().Get("v") == sums[name] {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
	})
}
