package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web"
)

// listening serves a stand on loopback, with all limits of a real server.
func listening(t *testing.T, s *stand) (address string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(ctx, l) }()
	t.Cleanup(func() {
		end()
		check(t, <-served)
	})
	return l.Addr().String()
}

// sendRaw sends raw bytes and reads until the server closes the connection.
func sendRaw(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { check(t, conn.Close()) }()
	if _, err := io.WriteString(conn, request); err != nil {
		return "" // it was refused before all was sent
	}
	answer, err := io.ReadAll(conn)
	if err != nil && len(answer) == 0 {
		return "" // reset
	}
	return string(answer)
}

// Requests that no regular client makes are refused, or answered like any other.
func TestRawRequests(t *testing.T) {
	s := newStand(t, webs(t, "bakery"), nil)
	address := listening(t, s)
	const end = "Connection: close\r\n\r\n"
	for _, tt := range []struct{ name, request, want string }{
		{"usual", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + end, "200"},
		{"no host", "GET / HTTP/1.1\r\n" + end, "400"},
		{"no host, HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", "421"},
		{"two hosts", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n" + end, "400"},
		{"another host in the target", "GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n" + end, "421"},
		{"markup in the host", "GET /opensearch.xml HTTP/1.1\r\nHost: 127.0.0.1\"><script>\r\n" + end, "400"},
		{"user in the host", "GET / HTTP/1.1\r\nHost: 127.0.0.1@evil.example\r\n" + end, "400"},
		{"number as host", "GET / HTTP/1.1\r\nHost: 2130706433\r\n" + end, "421"},
		{"tunnel", "CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n" + end, "405"},
		{"trace", "TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: secret\r\n" + end, "405"},
		{"line in a field", "GET /?q=a HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\nSet-Cookie: b\r\n" + end, "200"},
		{"folded field", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\r\n b\r\n" + end, "200"},
		{"null in a field", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\x00b\r\n" + end, "400"},
		{"both lengths", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n" + end + "0\r\n\r\nGET /api/stats HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "200"},
		{"long field", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + strings.Repeat("a", 64<<10) + "\r\n" + end, "431"},
		{"long target", "GET /?" + strings.Repeat("a", 20<<10) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + end, "414"},
		{"not HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
	} {
		answer := sendRaw(t, address, tt.request)
		status, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(answer, "HTTP/1.1 "), "HTTP/1.0 "), " ")
		// The server does not read the rest of a request that is too long, so its answer may be lost.
		if status != tt.want && (tt.want != "431" || answer != "") {
			t.Errorf("%s: %q, want %s", tt.name, answer[:min(len(answer), 200)], tt.want)
		}
		if strings.Count(answer, "Content-Security-Policy") > 1 {
			t.Errorf("%s: there are several answers", tt.name)
		}
		head, _, _ := strings.Cut(answer, "\r\n\r\n")
		if strings.Contains(head, "Set-Cookie") || strings.Contains(head, "evil.example") {
			t.Errorf("%s: the answer's head is %q", tt.name, head)
		}
	}
}

// Nothing in a path or query can add a header line to the answer.
func TestNoHeadersFromRequests(t *testing.T) {
	s := newStand(t, webs(t, "bakery"), nil)
	const line = "%0d%0aSet-Cookie:%20a=b%0d%0a"
	for _, target := range []string{
		"/" + line, "//" + line, "/a/../" + line, "/?q=" + line, "/?q=a&lang=" + line, "/doc?url=https://a.example/" + line, "/doc?url=https://a.example/&at=" + line,
		"/view?url=https://a.example/&view=" + line, "/copy?url=" + line, "/api/query?q=a&limit=" + line, "/assets/" + line, "/opensearch.xml?" + line, "/favicon.ico?" + line,
	} {
		if a := s.do(target, nil); a.header.Get("Set-Cookie") != "" || strings.Contains(fmt.Sprint(a.header), "Set-Cookie:") && a.header.Get("Location") == "" {
			t.Errorf("%s: %v", target, a.header)
		}
	}
}

// Whatever the path, redirects stay on this server, and files come only from its own tree.
func TestPathTricks(t *testing.T) {
	s := newStand(t, nil, nil)
	address := listening(t, s)
	for _, target := range []string{
		"//evil.example", "//evil.example/", "///evil.example", "/\\evil.example", "/%5c%5cevil.example", "//evil.example/%2e%2e", "/..//evil.example", "/.//evil.example",
		"/assets/../../../../etc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f..%2fetc%2fpasswd", "/assets/files/style.css", "/assets//etc/passwd", "/%00", "/assets/style.css%00.js",
		"/status/files/../../go.mod", "/readyz/../api/stats", "/healthz//", "/;/", "/.git/config",
	} {
		answer := sendRaw(t, address, "GET "+target+" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
		if err != nil {
			t.Errorf("%s: %v in %q", target, err, answer)
			continue
		}
		check(t, res.Body.Close())
		if to := res.Header.Get("Location"); to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, "/\\")) {
			t.Errorf("%s leads to %s", target, to)
		}
		if res.StatusCode == http.StatusOK || res.StatusCode >= 500 {
			t.Errorf("%s: status %d", target, res.StatusCode)
		}
	}
}

// A client that sends its request byte by byte, or sends none, is cut off.
func TestSlowClients(t *testing.T) {
	s := newStand(t, nil, func(o *web.Options) { o.Header = 50 * time.Millisecond })
	address := listening(t, s)
	for _, part := range []string{"", "GET", "GET / HTTP/1.1\r\nHost: 127.0.0.1", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "} {
		// Read returns when the server closes the connection.
		if answer := sendRaw(t, address, part); strings.HasPrefix(answer, "HTTP/1.1 200") {
			t.Errorf("%q is answered: %q", part, answer)
		}
	}
}

// Pages of other sites may link here, but cannot make a browser request anything else.
func TestOtherSites(t *testing.T) {
	ready := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	s := newStand(t, nil, func(o *web.Options) {
		o.Mounts, o.Open = map[string]http.Handler{"/status/events": ready, "/healthz": ready}, []string{"/healthz"}
	})
	for _, tt := range []struct {
		target, site, mode, dest string
		want                     int
	}{
		{"/api/stats", "", "", "", http.StatusOK},                             // a program
		{"/", "none", "navigate", "document", http.StatusOK},                  // typed
		{"/", "cross-site", "navigate", "document", http.StatusOK},            // a link
		{"/copy", "same-origin", "navigate", "iframe", http.StatusBadRequest}, // our own frame; it names no page
		{"/", "cross-site", "navigate", "iframe", http.StatusForbidden},
		{"/", "cross-site", "no-cors", "image", http.StatusForbidden},
		{"/api/stats", "cross-site", "cors", "empty", http.StatusForbidden},
		{"/api/stats", "same-site", "cors", "empty", http.StatusForbidden}, // another port of this machine
		{"/status/events", "cross-site", "cors", "empty", http.StatusForbidden},
		{"/status/events", "same-origin", "cors", "empty", http.StatusOK},
		{"/assets/app.js", "cross-site", "no-cors", "script", http.StatusForbidden},
		{"/healthz", "cross-site", "no-cors", "empty", http.StatusOK},
	} {
		a := s.do(tt.target, func(r *http.Request) {
			for name, value := range map[string]string{"Sec-Fetch-Site": tt.site, "Sec-Fetch-Mode": tt.mode, "Sec-Fetch-Dest": tt.dest} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
		})
		if a.status != tt.want {
			t.Errorf("%s from %q to %q: status %d, want %d", tt.target, tt.site, tt.dest, a.status, tt.want)
		}
	}
}

// heldCopies holds all requests for copies until they are released.
type heldCopies struct {
	web.Inspector
	entered chan struct{}
	release chan struct{}
}

func (h *heldCopies) Copy(ctx context.Context, u page.URL, at uint64) (*page.Fetch, error) {
	h.entered <- struct{}{}
	<-h.release
	return h.Inspector.Copy(ctx, u, at)
}

// Copies take memory, so only a few are made at a time. Further copies wait; searches do not.
func TestManyCopies(t *testing.T) {
	const target, most = "/copy?url=https://oak.example/", 8
	held := &heldCopies{entered: make(chan struct{}, 100), release: make(chan struct{})}
	s := newStand(t, many(1), func(o *web.Options) { held.Inspector, o.Inspect = o.Inspect, held })
	answers := make(chan int, most)
	for range most {
		go func() { answers <- s.do(target, nil).status }()
	}
	for range most {
		<-held.entered
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := s.http.Client().Do(r); err == nil {
		t.Errorf("one copy more: %s", res.Status)
		check(t, res.Body.Close())
	}
	s.get("/?q=oak")
	if n := len(held.entered); n != 0 {
		t.Errorf("%d copies more were begun", n)
	}
	close(held.release)
	for range most {
		if got := <-answers; got != http.StatusOK {
			t.Errorf("status %d", got)
		}
	}
	s.get(target)
}

// The log never holds a secret or a query.
func TestNothingSecretIsLogged(t *testing.T) {
	const secret, private = "correct horse battery", "a private matter"
	c, err := web.Password("reader", secret)
	if err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zapcore.DebugLevel)
	held := &heldSearcher{fail: func() { panic("a handler fails") }}
	s := newStand(t, nil, func(o *web.Options) {
		held.Searcher, o.Search = o.Search, held
		o.Credentials, o.AnyHost, o.Log = c, true, zap.New(core)
	})
	query := url.Values{"q": {private}, "token": {secret}, "url": {"https://reader:" + url.QueryEscape(secret) + "@a.example/"}}.Encode()
	for _, target := range []string{"/?" + query, "/doc?" + query, "/api/query?" + query, "/copy?" + query, "/nothing?" + query} {
		s.do(target, nil)
		s.do(target, func(r *http.Request) { r.SetBasicAuth("reader", secret) })
		s.do(target, func(r *http.Request) { r.SetBasicAuth(secret, secret) })
	}
	if logs.Len() == 0 {
		t.Error("the failure of a handler is not logged")
	}
	for _, e := range logs.All() {
		text := e.Message + fmt.Sprint(e.ContextMap())
		for _, word := range []string{"horse", url.QueryEscape(secret), "private"} {
			if strings.Contains(text, word) {
				t.Errorf("the log has %q: %s", word, text)
			}
		}
	}
}

// Text from the web in JSON is bounded, and escaped so that it is harmless in a page, too.
func TestHostileAnswersForPrograms(t *testing.T) {
	s := newStand(t, hostileWeb(), nil)
	targets := []string{"/api/query?q=hostile&limit=100&explain=1", "/api/query?q=" + url.QueryEscape("<script>\u202e\x00"), "/api/stats", "/api/inspect", "/api/nothing?<script>"}
	for _, f := range hostileWeb() {
		u := url.QueryEscape(string(f.URL))
		targets = append(targets, "/api/inspect?url="+u, "/api/versions?url="+u)
	}
	for _, target := range targets {
		a := s.do(target, nil)
		if a.header.Get("Content-Type") != "application/json" || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", target, a.header)
		}
		if len(a.body) > 100_000 {
			t.Errorf("%s: %d bytes", target, len(a.body))
		}
		if !json.Valid([]byte(a.body)) {
			t.Errorf("%s is no JSON: %.200s", target, a.body)
		}
		for _, r := range a.body {
			if r == '<' || r == '>' || r == '&' || r == '\u2028' || r != '\n' && unicode.IsControl(r) {
				t.Errorf("%s has a %U in it: %.300s", target, r, a.body)
				break
			}
		}
	}
}

// FuzzRequest checks that no target makes a handler fail, and that every answer has a policy.
func FuzzRequest(f *testing.F) {
	s := newStand(f, webs(f, "bakery", "redirects"), nil)
	for _, seed := range []string{
		"/", "/?q=bread&site=a.example&lang=en&sort=date&p=2&explain=1", "/?q=%00%ff\"-", "/doc?url=https://bakery.example/&in=2&out=3&members=4&at=5", "/doc?url=bakery.example&at=2026-01-01T00:00:00Z",
		"/view?url=https://bakery.example/&view=text", "/copy?url=https://bakery.example/&view=source&at=1", "/api/query?q=a&limit=1&offset=9&per_host=2", "/api/inspect?url=//&limit=0&offset=1",
		"/api/versions?url=https://%00/", "/opensearch.xml", "/assets/style.css?v=x", "//..//", "/?q=a;b", "/%zz",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") {
			return
		}
		w := httptest.NewRecorder()
		s.server.Handler().ServeHTTP(w, (&http.Request{Method: http.MethodGet, URL: u, Host: "127.0.0.1", Header: http.Header{}, Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(t.Context()))
		if w.Code >= 500 || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%q: status %d, %v: %.300s", target, w.Code, w.Header(), w.Body)
		}
	})
}
