package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// answer is the response of the fake web for a URL.
type answer struct {
	status     int
	took       time.Duration
	class      fetch.Class
	retryAfter time.Duration
	header     http.Header
	body       string
}

// call is a request to the fake web.
type call struct {
	url        page.URL
	start, end time.Time
	status     int
	class      fetch.Class
	etag       string
	most       int64
	aborted    bool
}

// web is a Fetcher over a web in memory. A URL with several answers gives one after the
// other, and repeats the last.
type web struct {
	answers map[page.URL][]answer
	addrs   map[string]netip.Addr // by host name
	dynamic func(u page.URL) (answer, bool)
	locates bool // it tells addresses beforehand

	stagger bool
	watch   func() // called at each request

	mu    sync.Mutex
	calls []*call
}

func newWeb() *web {
	return &web{answers: make(map[page.URL][]answer), addrs: make(map[string]netip.Addr)}
}

func (w *web) put(u string, a answer) {
	if a.took == 0 {
		a.took = 100 * time.Millisecond
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	url := page.MustParseURL(u)
	w.answers[url] = append(w.answers[url], a)
}

func htmlPage(title string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><head><title>%s</title></head><body>%s", title, strings.Repeat(title+" text. ", 10))
	for _, l := range links {
		fmt.Fprintf(&b, `<a href="%s">%s</a>`, l, l)
	}
	return b.String() + "</body></html>"
}

func (w *web) next(u page.URL) answer {
	list := w.answers[u]
	if len(list) == 0 {
		if w.dynamic != nil {
			if a, ok := w.dynamic(u); ok {
				return a
			}
		}
		return answer{status: 404, took: 100 * time.Millisecond, header: http.Header{}}
	}
	if len(list) > 1 {
		w.answers[u] = list[1:]
	}
	return list[0]
}

// Locate implements Locator.
func (w *web) Locate(_ context.Context, u page.URL) (netip.Addr, error) {
	if a, ok := w.addrs[u.Host()]; ok && w.locates {
		return a, nil
	}
	return netip.Addr{}, errors.New("no such host")
}

// Fetch implements Fetcher.
func (w *web) Fetch(ctx context.Context, r fetch.Request) fetch.Result {
	if w.watch != nil {
		w.watch()
	}
	w.mu.Lock()
	a := w.next(r.URL)
	x := &call{url: r.URL, start: time.Now(), status: a.status, class: a.class, etag: r.ETag, most: r.MaxBody}
	w.calls = append(w.calls, x)
	w.mu.Unlock()
	res := fetch.Result{Fetch: page.Fetch{URL: r.URL, Time: x.start.UTC(), Status: a.status, Header: a.header}}
	if w.stagger {
		a.took += stagger(HostOf(r.URL))
	}
	t := time.NewTimer(a.took)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		res.Class, res.Fetch.Err, res.Fetch.Status = fetch.Canceled, "canceled: the caller gave up", 0
	}
	if r.MaxBody > 0 && int64(len(a.body)) > r.MaxBody {
		res.Class, res.Fetch.Err, a.body = fetch.TooLarge, "too-large: as the request wants it", ""
	}
	etag := a.header.Get("ETag")
	unchanged := etag != "" && etag == r.ETag
	w.mu.Lock()
	x.end, x.aborted = time.Now(), res.Class == fetch.Canceled
	if unchanged && !x.aborted {
		x.status = 304
	}
	w.mu.Unlock()
	if res.Class == fetch.Canceled {
		return res
	}
	if unchanged {
		res.Fetch.Status, res.Fetch.Revisit = 304, true
	} else {
		res.Fetch.Body = []byte(a.body)
		res.Payload = res.Fetch.Body
	}
	if a.class != fetch.OK {
		res.Class, res.Fetch.Err, res.Fetch.Status, res.Fetch.Body = a.class, a.class.String()+": as the test wants it", 0, nil
	}
	res.RetryAfter = a.retryAfter
	if addr, ok := w.addrs[r.URL.Host()]; ok && a.class != fetch.Connect && a.class != fetch.DNS {
		res.RemoteAddr = netip.AddrPortFrom(addr, 443)
	}
	return res
}

// parseWeb reads a web from text: a line "URL STATUS key=value…" an answer, and
// indented lines its body.
func parseWeb(t testing.TB, w *web, text string) {
	t.Helper()
	type pending struct {
		url string
		a   answer
	}
	var p *pending
	flush := func() {
		if p != nil {
			if p.a.body != "" && p.a.header.Get("Content-Type") == "" && strings.HasPrefix(p.a.body, "<html") {
				p.a.header.Set("Content-Type", "text/html")
			}
			w.put(p.url, p.a)
		}
		p = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t"):
			p.a.body += strings.TrimSpace(line) + "\n"
		default:
			flush()
			fields := strings.Fields(line)
			if fields[0] == "locate" {
				w.locates = true
				continue
			}
			if fields[0] == "addr" {
				w.addrs[fields[1]] = netip.MustParseAddr(fields[2])
				continue
			}
			p = &pending{url: fields[0], a: answer{header: http.Header{}}}
			parseAnswer(t, &p.a, fields[1:])
		}
	}
	flush()
}

func parseAnswer(t testing.TB, a *answer, fields []string) {
	t.Helper()
	for _, f := range fields {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "took":
			a.took = mustDuration(t, value)
		case "retry-after":
			a.retryAfter = mustDuration(t, value)
			a.header.Set("Retry-After", strconv.Itoa(int(a.retryAfter/time.Second)))
		case "page":
			a.header.Set("Content-Type", "text/html")
			a.body = htmlPage(value)
		case "links":
			a.header.Set("Content-Type", "text/html")
			a.body = htmlPage("page", strings.Split(value, ",")...)
		case "etag":
			a.header.Set("ETag", value)
		case "location":
			a.header.Set("Location", value)
		case "type":
			a.header.Set("Content-Type", value)
		case "error":
			for cl := fetch.OK; cl <= fetch.Canceled; cl++ {
				if cl.String() == value {
					a.class = cl
				}
			}
		default:
			n, err := strconv.Atoi(key)
			if err != nil {
				t.Fatalf("unknown %q of an answer", f)
			}
			a.status = n
		}
	}
}

func mustDuration(t testing.TB, s string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// byStart are the calls in order of time.
func (w *web) byStart() []*call {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Clone(w.calls)
	slices.SortStableFunc(list, func(a, b *call) int {
		if c := a.start.Compare(b.start); c != 0 {
			return c
		}
		return strings.Compare(string(a.url), string(b.url))
	})
	return list
}
