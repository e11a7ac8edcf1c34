package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// maxTarget bounds the path and query of a request, in bytes. URLs worth asking about are
// much shorter, even though escaping can triple their length.
const maxTarget = 16 << 10

// policy is the content security policy of all answers except copies.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// securityHeaders adds the security headers to every answer, including refusals and errors.
func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// checkRequest refuses requests that our pages never make. No request changes anything,
// so it allows only GET and HEAD, and drops bodies.
func checkRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, r, http.StatusMethodNotAllowed, "this server is read-only; use GET or HEAD")
		case len(r.URL.Path)+len(r.URL.RawQuery) > maxTarget:
			refuse(w, r, http.StatusRequestURITooLong, "the address is too long")
		default:
			r.Body = http.NoBody
			next.ServeHTTP(w, r)
		}
	})
}

// checkSite refuses requests that a page of another site makes through a visitor's
// browser, except from origins that may search (origins.go). Such a page cannot read the
// answers (Cross-Origin-Resource-Policy, and no CORS), but it could use up the slots for
// requests and for clients of the status page. Browsers mark these requests in a header
// that pages cannot set (W3C, Fetch Metadata Request Headers). Following a link from
// another site is allowed. Other ports of this machine count as other sites.
func (s *Server) checkSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Sec-Fetch-Site") {
		case "", "none", "same-origin":
		default:
			followed := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
			if !followed && !s.fromNamedOrigin(r) {
				refuse(w, r, http.StatusForbidden, onlyLinks)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// checkHost refuses requests whose Host header does not name this server. Another site
// can point its own host name at a loopback address to read what is served there (DNS
// rebinding), but the Host header still holds that name.
func (s *Server) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.opts.AnyHost && !s.knowsHost(r.Host) {
			refuse(w, r, http.StatusMisdirectedRequest, "this server does not answer for that host name; use its address, or start it with --allow-host")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) knowsHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = plainHost(host)
	if host == "localhost" || slices.Contains(s.opts.Hosts, host) {
		return true
	}
	// An IP address is not a name, so no DNS record can redirect it.
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}

// plainHost normalises a host name for comparison.
func plainHost(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// checkCredentials requires credentials if the server has any.
func (s *Server) checkCredentials(next http.Handler) http.Handler {
	if s.opts.Credentials == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.opts.Credentials.admit(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="indexer", charset="UTF-8"`)
			refuse(w, r, http.StatusUnauthorized, "this index requires a password or token")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bounded limits the number of concurrent requests and the duration of each. It refuses
// excess requests instead of queueing them: a search takes milliseconds, so a queue
// would only add to the overload.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		default:
			w.Header().Set("Retry-After", "1")
			refuse(w, r, http.StatusServiceUnavailable, "too many concurrent requests; try again in a moment")
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), s.opts.Time)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// mounted runs a handler from Options.Mounts. Its context has no deadline and ends with
// the server. The write deadline still applies; a handler that streams extends it with
// each write.
func (s *Server) mounted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.closing, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// rescue turns a panic of a handler into a 500 answer. Handlers should not panic; if
// a page from the web causes one, it must not break a proxy's connection or reveal
// details.
func (s *Server) rescue(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			what := recover()
			if what == nil {
				return
			}
			s.opts.Log.Error("handler panicked; please report this", zap.Any("panic", what), zap.String("path", r.URL.Path), zap.ByteString("stack", debug.Stack()))
			refuse(w, r, http.StatusInternalServerError, "internal error")
		}()
		next.ServeHTTP(w, r)
	})
}
