package crawler

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// server is a site on loopback that notes its requests.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	calls []*call
}

func serve(t *testing.T, handler http.HandlerFunc) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &call{url: page.MustParseURL("http://" + r.Host + r.URL.RequestURI()), start: time.Now(), etag: r.Header.Get("If-None-Match")}
		s.mu.Lock()
		s.calls = append(s.calls, x)
		s.mu.Unlock()
		handler(w, r)
		s.mu.Lock()
		x.end = time.Now()
		s.mu.Unlock()
	}))
	t.Cleanup(s.Close)
	return s
}

// TestLoopback crawls two sites that link to each other, with the real fetcher.
func TestLoopback(t *testing.T) {
	const pages = 12
	var other *server
	site := func(w http.ResponseWriter, r *http.Request) {
		switch p := r.URL.Path; {
		case p == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\nSitemap: /sitemap.xml\n")
		case p == "/sitemap.xml":
			fmt.Fprintf(w, "<urlset><url><loc>http://%s/mapped</loc></url></urlset>", r.Host)
		case p == "/old":
			http.Redirect(w, r, "/mapped", http.StatusMovedPermanently)
		case p == "/missing" || strings.HasPrefix(p, "/private"):
			http.NotFound(w, r)
		default:
			var n int
			_, _ = fmt.Sscanf(p, "/%d", &n) // 0 if it has no number
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, htmlPage("page "+p, fmt.Sprintf("/%d", (n+1)%pages), "/old", "/missing", "/private/1", other.URL+"/3"))
		}
	}
	a := serve(t, site)
	b := serve(t, site)
	other = b

	fetcher := fetch.New(fetch.Options{AllowPrivate: true})
	defer fetcher.Close()
	f := newFrontier(a.URL + "/0")
	r := &recorded{}
	const delay = 5 * time.Millisecond
	c := New(Options{
		Politeness: Politeness{MinDelay: delay, DelayFactor: -1, PerIP: -1, PerDomain: -1, DomainDelay: -1},
		Sources:    Sources{NoProbe: true},
		MaxWait:    -1,
	}, f, fetcher, r)
	f.wake = c.Wake
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.check(t)
	for _, e := range f.list() {
		want := "page"
		switch e.job.URL.Path() {
		case "/old":
			want = "redirect"
		case "/missing":
			want = "gone"
		case "/private/1":
			want = ""
		}
		if e.index != want {
			t.Errorf("%s is in the index as %q, not %q: %s", e.job.URL, e.index, want, e.note)
		}
	}
	if n := len(f.list()); n != 2*(pages+4) {
		t.Errorf("%d URLs were found", n)
	}
	for _, s := range []*server{a, b} {
		seen := make(map[page.URL]bool)
		for _, x := range s.calls {
			if seen[x.url] {
				t.Errorf("%s was requested twice", x.url)
			}
			seen[x.url] = true
		}
		for _, problem := range tooMany(s.calls, 1, delay) {
			t.Error(problem)
		}
	}
	if s := c.Status(0); s.Pages != int64(2*(pages+3)) || s.Refused[RobotsRule] != 2 || s.Statuses[200] == 0 {
		t.Errorf("%+v", s)
	}
}

// One host cannot be reached, and one must not be.
func TestLoopbackRefused(t *testing.T) {
	s := serve(t, http.NotFound)
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	fetcher := fetch.New(fetch.Options{})
	defer fetcher.Close()
	f := newFrontier(s.URL+"/", dead.URL+"/")
	c := New(Options{MaxWait: -1}, f, fetcher, nil)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(s.calls) > 0 {
		t.Errorf("a private address was contacted")
	}
	st := c.Status(10)
	if st.Failures["refused-address"] != 2 || st.Hosts.Robots != 2 || len(st.Busiest) != 2 || !strings.Contains(st.Busiest[0].Why, "refused-address") {
		t.Errorf("%+v", st)
	}
}

// A seed without a scheme is tried with http if a proxy does not connect to its host, but not if
// the proxy refuses to serve the crawler.
func TestBareSeedBehindAProxy(t *testing.T) {
	for status, tried := range map[int]bool{http.StatusServiceUnavailable: true, http.StatusProxyAuthRequired: false} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodConnect {
				w.WriteHeader(status)
				return
			}
			fmt.Fprint(w, "a page of "+r.URL.Host)
		}))
		defer proxy.Close()
		at, err := fetch.ParseProxy(proxy.URL)
		if err != nil {
			t.Fatal(err)
		}
		fetcher := fetch.New(fetch.Options{Proxy: at})
		defer fetcher.Close()
		f := newFrontier("https://a.example/")
		c := New(Options{Bare: []page.URL{"https://a.example/"}, Politeness: Politeness{MinDelay: -1}, Sources: Sources{NoProbe: true}, MaxWait: -1}, f, fetcher, nil)
		f.wake = c.Wake
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if e := f.entries["http://a.example/"]; (e != nil && e.job.Visits == 1) != tried {
			t.Errorf("the proxy answers CONNECT with status %d: http was tried: %t", status, !tried)
		}
	}
}

// TestLargeBodiesAreReleased: the memory of large bodies is free again after each visit and
// each sitemap, whatever comes of them. A redirect with a large body is not a cookie wall.
func TestLargeBodiesAreReleased(t *testing.T) {
	large := strings.Repeat("<p>large</p>\n", 1<<16)
	site := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "Sitemap: /sitemap.xml\n")
		case "/sitemap.xml":
			fmt.Fprintf(w, "<urlset><url><loc>http://%s/mapped</loc></url><!--%s--></urlset>", r.Host, large)
		case "/wall":
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
			w.Header().Set("Location", "/wall")
			w.WriteHeader(http.StatusFound)
			fmt.Fprint(w, large)
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, large)
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, htmlPage("page", "/missing", "/wall")+large)
		}
	}
	var seeds []string
	for range 2 {
		seeds = append(seeds, serve(t, site).URL+"/")
	}
	fetcher := fetch.New(fetch.Options{AllowPrivate: true})
	defer fetcher.Close()
	f := newFrontier(seeds...)
	c := New(Options{
		Politeness: Politeness{MinDelay: -1, DelayFactor: -1, PerIP: -1, PerDomain: -1},
		Sources:    Sources{NoProbe: true},
		Memory:     Memory{Bodies: 2 << 20},
		MaxWait:    -1,
	}, f, fetcher, nil)
	f.wake = c.Wake
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if stop := context.AfterFunc(ctx, c.Abort); c.Run(ctx) != nil || !stop() {
		t.Fatal("the crawl does not end")
	}
	if s := c.Status(0); s.Pages != 2*4 || len(s.Failures) > 0 {
		t.Errorf("%d visits and failures %v, want 8 and none", s.Pages, s.Failures)
	}
}

// TestRobotsIsNotReadToItsEnd: a crawl does not receive much more of a robots.txt than counts.
func TestRobotsIsNotReadToItsEnd(t *testing.T) {
	const most = 32 << 20
	var written atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			fmt.Fprint(w, "a page")
			return
		}
		n, err := fmt.Fprint(w, "User-agent: *\nDisallow: /secret\n")
		for comment := []byte(strings.Repeat("# and so on\n", 1<<12)); err == nil && written.Add(int64(n)) < most; {
			n, err = w.Write(comment)
		}
	})
	fetcher := fetch.New(fetch.Options{AllowPrivate: true, MaxPayload: most})
	defer fetcher.Close()
	c := New(Options{Politeness: Politeness{MinDelay: -1}, Sources: Sources{NoProbe: true}, MaxWait: -1}, newFrontier(s.URL+"/", s.URL+"/secret"), fetcher, nil)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Close() // waits for the handler
	if s := c.Status(0); s.Pages != 1 || s.Refused[RobotsRule] != 1 || s.Bytes > 2<<20 || written.Load() >= most {
		t.Errorf("%d pages, refused %v, %d bytes received, %d bytes of robots.txt sent", s.Pages, s.Refused, s.Bytes, written.Load())
	}
}
