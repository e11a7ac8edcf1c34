package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"time"
)

// scriptPath is where pages of other origins load the search box from.
const scriptPath = "/embed.js"

// script defines the element <indexer-search> (docs/web.md).
//
//go:embed embed.js
var script []byte

var scriptTag = func() string {
	sum := sha256.Sum256(script)
	return `"` + hex.EncodeToString(sum[:6]) + `"`
}()

// searchBox serves the script of the search box. Its URL is fixed, because it is in
// other people's pages, so browsers ask each time whether the script has changed.
func (s *Server) searchBox(w http.ResponseWriter, r *http.Request) error {
	if len(s.opts.Origins) == 0 {
		return s.notFound(w, r)
	}
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	w.Header().Set("ETag", scriptTag)
	w.Header().Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "embed.js", time.Time{}, bytes.NewReader(script))
	return nil
}
