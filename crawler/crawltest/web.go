package crawltest

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/sites"
	"github.com/webindexer/indexer/page"
)

// Web is a number of hosts with a server each.
type Web struct {
	hosts     map[string]*host // by name
	authority *authority

	mu  sync.Mutex
	now time.Time
	log []*Request
}

type host struct {
	web     *Web
	name    string
	secure  bool   // https, with HTTP/2 for clients that want it
	address string // as URLs have it: 127.0.0.N:port
	pages   map[string][]*page.Fetch
	packed  map[*page.Fetch][]byte // bodies as sent, where they are compressed
	// make answers paths that are not in pages, for endless sites.
	make func(path string) (body string, ok bool)
	// handle answers first, if it returns true.
	handle func(http.ResponseWriter, *http.Request) bool
	// answer answers before pages; nil means that it has no answer.
	answer func(path string) *page.Fetch
}

var hostName = regexp.MustCompile(`(https?:)//([a-z0-9]+\.ip([0-9]+))`)

// ServeFile serves a web of testdata.
func ServeFile(t testing.TB, name string) *Web {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return Serve(t, string(text))
}

// Serve serves a web until the test ends.
func Serve(t testing.TB, text string) *Web {
	t.Helper()
	w := &Web{hosts: make(map[string]*host), now: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), authority: newAuthority(t)}
	for _, found := range hostName.FindAllStringSubmatch(text, -1) {
		if w.hosts[found[2]] == nil {
			w.listen(t, found[2], found[3], found[1] == "https:")
		}
	}
	site, err := sites.Parse("web", []byte(w.Real(text)))
	if err != nil {
		t.Fatal(err)
	}
	byAddress := make(map[string]*host)
	for _, h := range w.hosts {
		byAddress[h.address] = h
	}
	for _, f := range site.Fetches() {
		h := byAddress[f.URL.Host()+":"+f.URL.Port()]
		h.pages[pathOf(f.URL)] = append(h.pages[pathOf(f.URL)], &f)
		h.pack(&f)
	}
	return w
}

func (w *Web) listen(t testing.TB, name, n string, secure bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0."+n+":0")
	if err != nil {
		t.Skipf("this system has no address 127.0.0.%s: %v", n, err)
	}
	h := &host{web: w, name: name, secure: secure, address: l.Addr().String(), pages: make(map[string][]*page.Fetch), packed: make(map[*page.Fetch][]byte)}
	w.hosts[name] = h
	// Ignore what clients do to connections; that is up to the tests.
	server := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	serve := server.Serve
	if secure {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{w.authority.issue(t, net.IPv4(127, 0, 0, l.Addr().(*net.TCPAddr).IP.To4()[3]))}}
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = serve(l) })
	t.Cleanup(func() {
		_ = server.Close()
		wg.Wait()
	})
}

// Real replaces names by addresses.
func (w *Web) Real(text string) string {
	return hostName.ReplaceAllStringFunc(text, func(name string) string {
		scheme, host, _ := strings.Cut(name, "//")
		return scheme + "//" + w.hosts[host].address
	})
}

// Named replaces addresses by names.
func (w *Web) Named(text string) string {
	for name, h := range w.hosts {
		text = strings.ReplaceAll(text, h.address, name)
	}
	return text
}

// nameOf returns the name of a real URL: as Named writes it, without the scheme.
func (w *Web) nameOf(url string) string {
	_, name, _ := strings.Cut(w.Named(url), "://")
	return name
}

// URL returns the real URL of a named one.
func (w *Web) URL(raw string) page.URL {
	u, err := page.ParseURL(w.Real(raw))
	if err != nil {
		panic(fmt.Sprintf("the test's URL %s: %v", raw, err))
	}
	return u
}

// Make has a function answer for the paths that the host's text does not name.
func (w *Web) Make(name string, fn func(path string) (body string, ok bool)) { w.hosts[name].make = fn }

// Handle has a function answer for a host where it returns true.
func (w *Web) Handle(name string, fn func(http.ResponseWriter, *http.Request) bool) {
	w.hosts[name].handle = fn
}

// At sets the date (2006-01-02) of the content that is served.
func (w *Web) At(date string) {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = day
}

// pathOf is a URL's path and query, as in a request line.
func pathOf(u page.URL) string {
	if q := u.Query(); q != "" {
		return u.Path() + "?" + q
	}
	return u.Path()
}

// find returns the response in force.
func (h *host) find(path string) *page.Fetch {
	h.web.mu.Lock()
	now := h.web.now
	h.web.mu.Unlock()
	if h.answer != nil {
		if f := h.answer(path); f != nil {
			return f
		}
	}
	for _, p := range []string{path, "/*"} {
		for _, f := range slices.Backward(h.pages[p]) {
			if !f.Time.After(now) {
				return f
			}
		}
		if h.make == nil {
			continue
		}
		if body, ok := h.make(path); ok {
			return &page.Fetch{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)}
		}
	}
	return nil
}

// Expected returns how often each URL of the web's text must be requested, by name.
func (w *Web) Expected(t testing.TB) map[string]int {
	t.Helper()
	all := make(map[string]int)
	w.each(func(name string, f *page.Fetch) {
		n := 1
		if s := f.Header.Get("X-Expect"); s != "" {
			var err error
			if n, err = strconv.Atoi(s); err != nil {
				t.Fatalf("%s: X-Expect: %v", name, err)
			}
		}
		all[name] = n
	})
	return all
}

// each visits the web's text, except robots.txt files and responses that stand for
// other paths.
func (w *Web) each(visit func(name string, f *page.Fetch)) {
	for _, h := range w.hosts {
		for path, versions := range h.pages {
			if path != "/robots.txt" && path != "/*" {
				visit(h.name+path, versions[len(versions)-1])
			}
		}
	}
}
