package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Pages of other origins can use a visitor's browser to search here, if the operator has
// named these origins (Options.Origins). The visitor's browser enforces this, by the rules
// of CORS (Fetch Standard, section 3.3): it hands an answer to a page only if the answer
// names the page's origin.
//
//   - Only the paths in shared are open: the search, its suggestions, and the script of the
//     search box. Details, copies and the status page stay closed to other origins.
//   - Only exact origins count. There is no "*", no pattern, and no "null", which is the
//     origin of sandboxed frames and local files, and so of any site.
//   - No answer allows credentials, and a preflight allows no header. A server that requires
//     credentials therefore refuses these requests as well: an Origin header proves nothing
//     about a client that is not a browser, so it must not replace a password.
//   - Answers of the shared paths vary by origin, whether allowed or not, so that a cache
//     never gives one origin the answer for another.
//
// Without origins, none of this exists, not even the script.

// shared are the paths that pages of the named origins may request.
var shared = []string{"/api/query", "/api/suggest", scriptPath}

// onlyLinks is the answer to pages that may not search.
const onlyLinks = "pages of other sites may only link to this server"

// preflightAge is how long browsers may remember the answer to a preflight, in seconds.
const preflightAge = "600"

// checkOrigins refuses names that no browser sends as the origin of a page on the web.
func checkOrigins(origins []string) error {
	for _, o := range origins {
		if !strings.HasPrefix(o, "https://") && !strings.HasPrefix(o, "http://") {
			return fmt.Errorf("web: origin %q: want SCHEME://HOST or SCHEME://HOST:PORT, with the scheme http or https", o)
		}
	}
	return nil
}

// shareAcrossOrigins lets browsers hand the answers of the shared paths, including errors,
// to pages of the named origins, and answers preflights.
func (s *Server) shareAcrossOrigins(next http.Handler) http.Handler {
	if len(s.opts.Origins) == 0 {
		return next
	}
	preflight := s.checkHost(http.HandlerFunc(s.preflight))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(shared, r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Vary", "Origin")
		switch {
		case r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "":
			preflight.ServeHTTP(w, r)
		case s.fromNamedOrigin(r):
			w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
			fallthrough
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// preflight answers the question of a browser whether a page may send a request that is
// not simple. The search box never causes one, but programs of the same page may.
func (s *Server) preflight(w http.ResponseWriter, r *http.Request) {
	if !s.namedOrigin(r) {
		refuse(w, r, http.StatusForbidden, onlyLinks)
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	h.Set("Access-Control-Allow-Methods", http.MethodGet)
	h.Set("Access-Control-Max-Age", preflightAge)
	w.WriteHeader(http.StatusNoContent)
}

// fromNamedOrigin reports whether a request comes from a page of a named origin, and asks
// for something that such a page may have.
func (s *Server) fromNamedOrigin(r *http.Request) bool {
	return r.Method == http.MethodGet && slices.Contains(shared, r.URL.Path) && s.namedOrigin(r)
}

func (s *Server) namedOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	return len(origins) == 1 && slices.Contains(s.opts.Origins, origins[0])
}
