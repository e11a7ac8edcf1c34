package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/webindexer/indexer/web"
)

const docsOrigin = "https://docs.example"

// fromOrigin makes a request that of a page of another site: its browser adds these headers.
func fromOrigin(method, origin string) func(*http.Request) {
	return func(r *http.Request) {
		r.Method = method
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "cors")
		r.Header.Set("Sec-Fetch-Dest", "empty")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if method == http.MethodOptions {
			r.Header.Set("Access-Control-Request-Method", http.MethodGet)
		}
	}
}

func TestOrigins(t *testing.T) {
	token, err := web.Token("0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	named := func(o *web.Options) { o.Origins = []string{docsOrigin, "http://localhost:8000"} }
	closed := newStand(t, webs(t, "bakery"), nil)
	servers := map[string]*stand{
		"named": closed.beside(named), "closed": closed,
		"secret": closed.beside(func(o *web.Options) { named(o); o.Credentials, o.AnyHost = token, true }),
	}
	const query = "/api/query?q=bread"
	for _, tt := range []struct {
		server, method, target, origin string
		want                           int
		allowed                        bool // the browser hands the answer to the page
	}{
		{"named", "GET", query, docsOrigin, http.StatusOK, true},
		{"named", "GET", query, "http://localhost:8000", http.StatusOK, true},
		{"named", "GET", "/api/suggest?q=bre", docsOrigin, http.StatusOK, true},
		{"named", "GET", "/api/suggest?q=bre", "https://other.example", http.StatusForbidden, false},
		{"named", "GET", "/embed.js", docsOrigin, http.StatusOK, true},
		{"named", "GET", "/api/query", docsOrigin, http.StatusBadRequest, true}, // so that the box can show why
		{"named", "GET", query, "", http.StatusForbidden, false},
		{"named", "GET", query, "null", http.StatusForbidden, false},
		{"named", "GET", query, "https://other.example", http.StatusForbidden, false},
		{"named", "GET", query, "http://docs.example", http.StatusForbidden, false},
		{"named", "GET", query, "https://docs.example:8443", http.StatusForbidden, false},
		{"named", "GET", query, "https://docs.example.attacker.example", http.StatusForbidden, false},
		{"named", "GET", query, "https://docs.example, https://other.example", http.StatusForbidden, false},
		{"named", "GET", "/embed.js", "https://other.example", http.StatusForbidden, false},
		{"named", "HEAD", query, docsOrigin, http.StatusForbidden, false},
		{"named", "POST", query, docsOrigin, http.StatusMethodNotAllowed, false},
		{"named", "GET", "/", docsOrigin, http.StatusForbidden, false},
		{"named", "GET", "/api/stats", docsOrigin, http.StatusForbidden, false},
		{"named", "GET", "/api/inspect?url=https://a.example/", docsOrigin, http.StatusForbidden, false},
		{"named", "GET", "/assets/app.js", docsOrigin, http.StatusForbidden, false},
		{"named", "GET", "/api/query/", docsOrigin, http.StatusForbidden, false},
		{"named", "OPTIONS", query, docsOrigin, http.StatusNoContent, true},
		{"named", "OPTIONS", query, "null", http.StatusForbidden, false},
		{"named", "OPTIONS", query, "https://other.example", http.StatusForbidden, false},
		{"named", "OPTIONS", "/api/stats", docsOrigin, http.StatusMethodNotAllowed, false},
		{"closed", "GET", query, docsOrigin, http.StatusForbidden, false},
		{"closed", "GET", "/embed.js", docsOrigin, http.StatusForbidden, false},
		{"closed", "OPTIONS", query, docsOrigin, http.StatusMethodNotAllowed, false},
		{"secret", "GET", query, docsOrigin, http.StatusUnauthorized, true},
		{"secret", "GET", "/embed.js", docsOrigin, http.StatusUnauthorized, true},
		{"secret", "OPTIONS", query, docsOrigin, http.StatusNoContent, true},
	} {
		a := servers[tt.server].do(tt.target, fromOrigin(tt.method, tt.origin))
		what := strings.Join([]string{tt.server, tt.method, tt.target, tt.origin}, " ")
		if a.status != tt.want {
			t.Errorf("%s: status %d, want %d: %s", what, a.status, tt.want, a.body)
		}
		wantOrigin := ""
		if tt.allowed {
			wantOrigin = tt.origin
		}
		if got := a.header.Get("Access-Control-Allow-Origin"); got != wantOrigin {
			t.Errorf("%s: allowed is %q, want %q", what, got, wantOrigin)
		}
		path, _, _ := strings.Cut(tt.target, "?")
		shared := tt.server != "closed" && (path == "/api/query" || path == "/api/suggest" || path == "/embed.js")
		if varies := a.header.Get("Vary") == "Origin"; varies != shared {
			t.Errorf("%s: Vary %q", what, a.header.Values("Vary"))
		}
		// Credentials and headers are never allowed, and no response loses its other headers.
		for _, name := range []string{"Access-Control-Allow-Credentials", "Access-Control-Allow-Headers"} {
			if got := a.header.Values(name); len(got) > 0 {
				t.Errorf("%s: %s: %q", what, name, got)
			}
		}
		if a.header.Get("Cross-Origin-Resource-Policy") != "same-origin" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", what, a.header)
		}
		if age := a.header.Get("Access-Control-Max-Age"); (age != "") != (a.status == http.StatusNoContent) {
			t.Errorf("%s: to be remembered for %q s", what, age)
		}
		if methods := a.header.Get("Access-Control-Allow-Methods"); methods != "" && (methods != "GET" || a.status != http.StatusNoContent) {
			t.Errorf("%s: methods %q", what, methods)
		}
	}
}

// The origin is not the only check: the request must also name this server, and credentials
// still count.
func TestOriginsBesideOtherChecks(t *testing.T) {
	token, err := web.Token("0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	s := newStand(t, webs(t, "bakery"), func(o *web.Options) { o.Origins = []string{docsOrigin} })
	secret := s.beside(func(o *web.Options) { o.Origins, o.Credentials, o.AnyHost = []string{docsOrigin}, token, true })
	for _, method := range []string{http.MethodGet, http.MethodOptions} {
		a := s.do("/api/query?q=bread", func(r *http.Request) { fromOrigin(method, docsOrigin)(r); r.Host = "attacker.example" })
		if a.status != http.StatusMisdirectedRequest {
			t.Errorf("%s under another name: status %d", method, a.status)
		}
	}
	// A proxy in front can present the credentials.
	a := secret.do("/api/query?q=bread", func(r *http.Request) {
		fromOrigin(http.MethodGet, docsOrigin)(r)
		r.Header.Set("Authorization", "Bearer 0123456789abcdef")
	})
	if a.status != http.StatusOK || a.header.Get("Access-Control-Allow-Origin") != docsOrigin {
		t.Errorf("through a proxy with credentials: status %d, %v", a.status, a.header)
	}
	// A request with OPTIONS that does not ask for a method is no preflight.
	a = s.do("/api/query?q=bread", func(r *http.Request) {
		fromOrigin(http.MethodOptions, docsOrigin)(r)
		r.Header.Del("Access-Control-Request-Method")
	})
	if a.status != http.StatusMethodNotAllowed {
		t.Errorf("OPTIONS without a method: status %d", a.status)
	}
	// Two Origin headers, which no browser sends, are none.
	a = s.do("/api/query?q=bread", func(r *http.Request) { fromOrigin(http.MethodGet, docsOrigin)(r); r.Header.Add("Origin", docsOrigin) })
	if a.status != http.StatusForbidden {
		t.Errorf("two origins: status %d", a.status)
	}
}

func TestOriginsThatAreRefused(t *testing.T) {
	s := newStand(t, nil, nil)
	for _, origin := range []string{"*", "null", "", "docs.example", "file://", "httpx://docs.example"} {
		if _, err := web.New(web.Options{Search: s.reader, Inspect: web.Local{Repo: s.repo}, Origins: []string{origin}}); err == nil {
			t.Errorf("the origin %q was taken", origin)
		}
	}
}

// The script is there only if some origin may use it, and browsers can ask whether it changed.
func TestSearchBoxScript(t *testing.T) {
	closed := newStand(t, nil, nil)
	if a := closed.do("/embed.js", nil); a.status != http.StatusNotFound {
		t.Errorf("without origins: status %d", a.status)
	}
	s := closed.beside(func(o *web.Options) { o.Origins = []string{docsOrigin} })
	a := s.do("/embed.js", nil)
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/javascript") || a.header.Get("Cache-Control") != "no-cache" || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("status %d, %v", a.status, a.header)
	}
	again := s.do("/embed.js", func(r *http.Request) {
		fromOrigin(http.MethodGet, docsOrigin)(r)
		r.Header.Set("If-None-Match", a.header.Get("ETag"))
	})
	if again.status != http.StatusNotModified || again.header.Get("Access-Control-Allow-Origin") != docsOrigin {
		t.Errorf("unchanged: status %d, %v", again.status, again.header)
	}
	for _, forbidden := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", ".style"} {
		if strings.Contains(a.body, forbidden) {
			t.Errorf("the script has %s", forbidden)
		}
	}
}
