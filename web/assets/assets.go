// Package assets holds what all pages share: the style sheet with its colours for
// light and dark, the small script, the icon, and the frame of a page. Everything is
// inside the program; a page asks no other server for anything.
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

// types are the media types of the files. A file whose type is not here is not served.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".png": "image/png",
}

// Layout is the frame of a page. A page is a template that defines "title", "main"
// and, if it has some, "head", and runs "layout"; what it is run with has the
// methods that [Frame] has.
func Layout() (*template.Template, error) {
	t, err := template.New("layout.html").Funcs(template.FuncMap{"asset": URL}).Parse(layout)
	if err != nil {
		return nil, fmt.Errorf("assets: layout: %w", err)
	}
	return t, nil
}

// Frame is what the layout itself shows. Embed it in what a page is run with.
type Frame struct {
	Nav   string // the entry of the navigation that is open: "search", "status", or ""
	Query string // in the search field at the top; pages that have their own set Bare
	Bare  bool   // no search field at the top
	Live  bool   // there is a status page to link to
	Notes []string
}

// sums are the first digits of the digest of each file, which are part of its URL:
// a browser keeps a file for good, and asks for another when the program changes.
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

// URL is where a file is served.
func URL(name string) string { return Prefix + name + "?v=" + sums[name] }

// Handler serves the files, each by its own name. There is no list of them.
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
