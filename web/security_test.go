package web_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/web"
)

// wanted are the headers of every answer.
var wanted = map[string]string{
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"X-Robots-Tag":                 "noindex, nofollow",
	"Cache-Control":                "no-store",
}

func TestHeaders(t *testing.T) {
	s := newStand(t, webs(t, "bakery"), nil)
	for _, target := range []string{"/", "/?q=bread", "/doc?url=https://a.example/", "/help", "/nothing", "/api/stats", "/api/query", "/opensearch.xml", "/?p=0"} {
		a := s.do(target, nil)
		for name, want := range wanted {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", target, name, got, want)
			}
		}
		csp := a.header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none';") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", target, csp)
		}
		if a.header.Get("X-Frame-Options") != "DENY" || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", target, a.header)
		}
		if got := a.header.Get("Content-Type"); got == "" {
			t.Errorf("%s has no type", target)
		}
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	s := newStand(t, nil, func(o *web.Options) { o.Hosts = []string{"index.example"} })
	for _, tt := range []struct {
		name, target, method, host string
		want                       int
	}{
		{"usual", "/", "GET", "", http.StatusOK},
		{"head", "/", "HEAD", "", http.StatusOK},
		{"localhost", "/", "GET", "localhost:7070", http.StatusOK},
		{"localhost in capitals, with a dot", "/", "GET", "LocalHost.", http.StatusOK},
		{"IPv6", "/", "GET", "[::1]:7070", http.StatusOK},
		{"IPv6 without a port", "/", "GET", "[::1]", http.StatusOK},
		{"address", "/", "GET", "192.0.2.1", http.StatusOK},
		{"name of a proxy", "/", "GET", "index.example", http.StatusOK},
		{"rebound name", "/", "GET", "attacker.example:7070", http.StatusMisdirectedRequest},
		{"name that begins so", "/", "GET", "localhost.attacker.example", http.StatusMisdirectedRequest},
		{"address in a name", "/api/stats", "GET", "127.0.0.1.attacker.example", http.StatusMisdirectedRequest},
		{"post", "/", "POST", "", http.StatusMethodNotAllowed},
		{"delete", "/api/stats", "DELETE", "", http.StatusMethodNotAllowed},
		{"preflight", "/api/stats", "OPTIONS", "", http.StatusMethodNotAllowed},
		{"long", "/?q=" + strings.Repeat("a", 17<<10), "GET", "", http.StatusRequestURITooLong},
		{"long path", "/" + strings.Repeat("a", 17<<10), "GET", "", http.StatusRequestURITooLong},
		{"out of the tree", "/assets/..%2fassets.go", "GET", "", http.StatusNotFound},
		{"templates", "/assets/layout.html", "GET", "", http.StatusNotFound},
	} {
		a := s.do(tt.target, func(r *http.Request) { r.Method, r.Host = tt.method, tt.host })
		if a.status != tt.want {
			t.Errorf("%s: status %d, want %d: %s", tt.name, a.status, tt.want, a.body)
		}
	}
}

func TestCredentials(t *testing.T) {
	password, err := web.Password("reader", "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	token, err := web.Token("0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	ready := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	with := func(c *web.Credentials) *stand {
		return newStand(t, nil, func(o *web.Options) {
			o.Credentials, o.AnyHost = c, true
			o.Mounts, o.Open = map[string]http.Handler{"/readyz": ready, "/metrics": ready}, []string{"/readyz"}
		})
	}
	servers := map[string]*stand{"password": with(password), "token": with(token)}
	basic := func(user, secret string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(user, secret) }
	}
	bearer := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", value) }
	}
	for _, tt := range []struct {
		server, target string
		with           func(*http.Request)
		want           int
	}{
		{"password", "/", nil, 401},
		{"password", "/", basic("reader", "correct horse"), 200},
		{"password", "/", basic("reader", "correct hors"), 401},
		{"password", "/", basic("Reader", "correct horse"), 401},
		{"password", "/", basic("", ""), 401},
		{"password", "/", bearer("Bearer correct horse"), 401},
		{"password", "/api/stats", nil, 401},
		{"password", "/assets/style.css", nil, 401},
		{"password", "/metrics", nil, 401},
		{"password", "/metrics", basic("reader", "correct horse"), 204},
		{"password", "/readyz", nil, 204},
		{"password", "/readyz/../api/stats", nil, 401},
		{"token", "/", nil, 401},
		{"token", "/", bearer("Bearer 0123456789abcdef"), 200},
		{"token", "/", bearer("bearer  0123456789abcdef "), 200},
		{"token", "/", bearer("0123456789abcdef"), 401},
		{"token", "/", bearer("Bearer "), 401},
		{"token", "/", bearer("Bearer 0123456789abcdeg"), 401},
		{"token", "/", basic("anybody", "0123456789abcdef"), 200},
	} {
		a := servers[tt.server].do(tt.target, tt.with)
		if a.status != tt.want {
			t.Errorf("%s: %s: status %d, want %d", tt.server, tt.target, a.status, tt.want)
		}
		if a.status == 401 && !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("%s: %s does not ask for credentials", tt.server, tt.target)
		}
	}
	for _, err := range []error{second(web.Password("", "long enough")), second(web.Password("a:b", "long enough")), second(web.Password("a", "short")), second(web.Password("a", "éèêëàâ")), second(web.Token("short"))} {
		if err == nil {
			t.Error("weak credentials were taken")
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestReadSecret(t *testing.T) {
	name := filepath.Join(t.TempDir(), "secret")
	for _, content := range []string{"correct horse\n", "correct horse\r\nand more", "correct horse"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := web.ReadSecret(name); err != nil || got != "correct horse" {
			t.Errorf("%q gives %q, %v", content, got, err)
		}
	}
	if _, err := web.ReadSecret(name + "no"); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestListen(t *testing.T) {
	c, err := web.Token("0123456789abcdef")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		address string
		remote  bool
		c       *web.Credentials
		want    string // of the error; "" for none
	}{
		{"127.0.0.1:0", false, nil, ""},
		{"127.8.9.10:0", false, nil, ""},
		{"localhost:0", false, nil, ""},
		{"127.0.0.1:0", false, c, ""},
		{":0", false, nil, "--allow-remote"},
		{"0.0.0.0:0", false, nil, "--allow-remote"},
		{"0.0.0.0:0", false, c, "--allow-remote"},
		{"[::]:0", false, nil, "--allow-remote"},
		{"192.0.2.1:0", false, nil, "--allow-remote"},
		{"0.0.0.0:0", true, nil, "--token-file"},
		{"0.0.0.0:0", true, c, ""},
		{"127.0.0.1", false, nil, "HOST:PORT"},
		{"127.0.0.1:http:", false, nil, "HOST:PORT"},
		{"127.0.0.1:99999", false, nil, "invalid port"},
	} {
		l, err := web.Listen(t.Context(), tt.address, tt.remote, tt.c)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.address, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q", tt.address, err, tt.want)
		case strings.HasPrefix(tt.want, "--") && !errors.Is(err, web.ErrExposed):
			t.Errorf("%s: %v is not ErrExposed", tt.address, err)
		}
		if l != nil {
			check(t, l.Close())
		}
	}
}

// heldSearcher holds searches until they are released.
type heldSearcher struct {
	web.Searcher
	entered chan struct{}
	release chan struct{}
	fail    func()
}

func (h *heldSearcher) Search(ctx context.Context, q string, o search.Options) (*search.Results, error) {
	if h.fail != nil {
		h.fail()
	}
	h.entered <- struct{}{}
	select {
	case <-h.release:
		return h.Searcher.Search(ctx, q, o)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestTooManyRequests(t *testing.T) {
	held := &heldSearcher{entered: make(chan struct{}), release: make(chan struct{})}
	s := newStand(t, webs(t, "bakery"), func(o *web.Options) {
		held.Searcher, o.Search, o.Concurrent = o.Search, held, 2
		o.Mounts = map[string]http.Handler{"/metrics": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	})
	for range 3 { // one after the other
		w := httptest.NewRecorder()
		s.server.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/nothing", nil))
		if w.Code != http.StatusNotFound {
			t.Errorf("after another request: status %d", w.Code)
		}
	}
	answers := make(chan int, 2)
	for range 2 {
		go func() { answers <- s.do("/api/query?q=bread", nil).status }()
		<-held.entered
	}
	if a := s.do("/api/query?q=bread", nil); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("one too many: status %d", a.status)
	}
	if a := s.do("/metrics", nil); a.status != http.StatusOK {
		t.Errorf("what is mounted waits with the others: status %d", a.status)
	}
	close(held.release)
	for range 2 {
		if got := <-answers; got != http.StatusOK {
			t.Errorf("status %d", got)
		}
	}
}

// A request that takes too long is cancelled, and its answer says so.
func TestSlowRequest(t *testing.T) {
	held := &heldSearcher{entered: make(chan struct{}, 1), release: make(chan struct{})}
	s := newStand(t, nil, func(o *web.Options) {
		held.Searcher, o.Search, o.Time = o.Search, held, time.Millisecond
	})
	if a := s.do("/api/query?q=bread", nil); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "took too long") {
		t.Errorf("status %d: %s", a.status, a.body)
	}
}

// A handler that panics answers 500 without internals, and does not affect other requests.
func TestPanic(t *testing.T) {
	var list []int
	held := &heldSearcher{fail: func() { list[len(list)-1]++ }}
	s := newStand(t, nil, func(o *web.Options) { held.Searcher, o.Search = o.Search, held })
	a := s.do("/?q=bread", nil)
	if a.status != http.StatusInternalServerError || strings.Contains(a.body, "index out of range") {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	s.get("/")
}

// When the server ends, it answers running requests and ends mounted handlers.
func TestShutdown(t *testing.T) {
	held := &heldSearcher{entered: make(chan struct{}), release: make(chan struct{})}
	var streamEnded atomic.Bool
	streaming := make(chan struct{})
	s := newStand(t, webs(t, "bakery"), func(o *web.Options) {
		held.Searcher, o.Search, o.Drain = o.Search, held, time.Minute
		o.Mounts = map[string]http.Handler{"/status/events": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			check(t, http.NewResponseController(w).Flush())
			close(streaming)
			<-r.Context().Done()
			streamEnded.Store(true)
		})}
	})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(ctx, l) }()
	s.http.Close()
	s.http.URL = "http://" + l.Addr().String()
	answers := make(chan answer, 2)
	go func() { answers <- s.do("/api/query?q=bread", nil) }()
	<-held.entered
	go func() { answers <- s.do("/status/events", nil) }()
	<-streaming
	end()
	if a := <-answers; a.status != http.StatusOK || !streamEnded.Load() {
		t.Errorf("the stream: %d, ended %v", a.status, streamEnded.Load())
	}
	close(held.release)
	if a := <-answers; a.status != http.StatusOK || !strings.Contains(a.body, `"hits"`) {
		t.Errorf("the request under way: %d %s", a.status, a.body)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
