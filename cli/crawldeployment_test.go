package cli

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
)

// recordedHost is a web server that notes when it was asked.
type recordedHost struct {
	address string // 127.0.0.N:port
	pages   int

	mu    sync.Mutex
	calls []recordedCall
}

type recordedCall struct {
	path       string
	start, end time.Time
}

// recordedHosts is some hosts, each at an address of its own, whose pages link to each
// other across hosts.
type recordedHosts struct {
	list  []*recordedHost
	asked chan struct{}                   // receives a value for each request, if there is room
	gate  atomic.Pointer[context.Context] // if it is set, the last page of each host waits for its end
}

// hold makes the last page of each host wait, so that no crawl ends, until open is called.
func (s *recordedHosts) hold() (open func()) {
	gate, open := context.WithCancel(context.Background())
	s.gate.Store(&gate)
	return open
}

func serveHosts(t *testing.T, hosts, pages int) *recordedHosts {
	t.Helper()
	all := &recordedHosts{asked: make(chan struct{}, 1000)}
	for i := range hosts {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:0", 20+i))
		if err != nil {
			t.Skipf("this system has no address 127.0.0.%d: %v", 20+i, err)
		}
		h := &recordedHost{address: l.Addr().String(), pages: pages}
		all.list = append(all.list, h)
		server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			all.answer(i, w, r)
		})}
		var wg sync.WaitGroup
		wg.Go(func() { _ = server.Serve(l) })
		t.Cleanup(func() {
			_ = server.Close() // requests of killed processes do not matter
			wg.Wait()
		})
	}
	return all
}

// answer serves page N of a host, which links to the next one, and to page N of the next
// host.
func (s *recordedHosts) answer(i int, w http.ResponseWriter, r *http.Request) {
	h, start := s.list[i], time.Now()
	select {
	case s.asked <- struct{}{}:
	default:
	}
	defer func() { // before the response is flushed
		h.mu.Lock()
		defer h.mu.Unlock()
		h.calls = append(h.calls, recordedCall{r.URL.Path, start, time.Now()})
	}()
	var n int
	if _, err := fmt.Sscanf(r.URL.Path, "/p/%d", &n); err != nil || n >= h.pages {
		http.NotFound(w, r)
		return
	}
	if gate := s.gate.Load(); gate != nil && n == h.pages-1 {
		select {
		case <-(*gate).Done():
		case <-r.Context().Done():
		}
	}
	other := s.list[(i+1)%len(s.list)]
	w.Header().Set("Content-Type", "text/html")
	_, _ = fmt.Fprintf(w, `<title>Page %d of host %d</title><p>The lighthouse of host number %d has %d steps, and page %d tells of every one of them.
		<a href="/p/%d">next</a> <a href="http://%s/p/%d">elsewhere</a>`, n, i, i, n*n+i, n, n+1, other.address, n)
}

// forget drops what was recorded.
func (s *recordedHosts) forget() {
	for _, h := range s.list {
		h.mu.Lock()
		h.calls = nil
		h.mu.Unlock()
	}
	for len(s.asked) > 0 {
		<-s.asked
	}
}

// wantPolite: no request to a host began sooner than the delay after the one before had
// ended, and every page was requested.
func (s *recordedHosts) wantPolite(t *testing.T, delay time.Duration) {
	t.Helper()
	for _, h := range s.list {
		h.mu.Lock()
		calls := slices.Clone(h.calls)
		h.mu.Unlock()
		slices.SortFunc(calls, func(a, b recordedCall) int { return a.start.Compare(b.start) })
		seen := make(map[string]bool)
		for i, c := range calls {
			seen[c.path] = true
			if i > 0 && c.start.Sub(calls[i-1].end) < delay {
				t.Errorf("%s: %s begins %v after the end of %s", h.address, c.path, c.start.Sub(calls[i-1].end), calls[i-1].path)
			}
		}
		for n := range h.pages {
			if path := fmt.Sprintf("/p/%d", n); !seen[path] {
				t.Errorf("%s%s was not requested", h.address, path)
			}
		}
	}
}

// untilCrawls waits until a crawler has hosts, and ends the test if it does not get any.
func (f *fleet) untilCrawls(c *child) {
	f.t.Helper()
	looks := 0
	until(f.t, func() bool {
		s := f.look()
		if looks++; looks > 300 {
			f.t.Fatalf("status shows %+v of a crawler that says %s", s.Crawl, c.Said())
		}
		return s.Crawl != nil && slices.ContainsFunc(s.Crawl.Crawlers, func(one crawlerState) bool {
			return one.Process == c.cmd.Process.Pid && one.Partitions > 0
		})
	})
}

// TestCrawlDeployment: three processes crawl some hosts together, into a store that they
// share. One is killed. One joins later, is stopped until the others have its hosts, and
// joins again when it continues. The hosts never see two requests closer together than the
// delay, and the index is that of one process with a data directory.
func TestCrawlDeployment(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	t.Parallel()
	const delay = 100 * time.Millisecond
	hosts := serveHosts(t, testenv.Size(4, 4, 12), testenv.Size(5, 5, 40))
	f := newFleet(t)
	seed := "http://" + hosts.list[0].address + "/p/0"
	crawl := func(more ...string) []string {
		return append([]string{"crawl", "--allow-private", "--delay", delay.String(), "--scope", "any"}, more...)
	}
	embedded := []string{"--data", filepath.Join(f.dir, "embedded")}
	runIndexer(t, append(embedded, crawl(seed)...)...)
	want := digest(t, embedded...)
	hosts.wantPolite(t, delay)
	hosts.forget()

	open := hosts.hold()
	defer open() // or its server would not end
	worker := f.worker("worker")
	warc := filepath.Join(f.dir, "warc")
	one := startChild(t, "", f.args("one", crawl(seed)...)...)
	two := startChild(t, "", f.args("two", crawl("--warc", warc, seed)...)...)
	for range 8 {
		<-hosts.asked
	}
	one.Kill()
	one.Wait()
	three := startChild(t, "", f.args("three", crawl()...)...)
	f.untilCrawls(three)
	three.Signal(syscall.SIGSTOP)
	open()
	two.Until("It ended because")
	three.Signal(syscall.SIGCONT)
	three.Until("joins the crawl again")
	for _, c := range []*child{two, three} {
		if status := c.ends(); status != 0 {
			t.Errorf("exit status %d: %s", status, c.Said())
		}
		t.Log(c.Said())
	}
	f.wantNoDirectory("two")
	f.wantNoDirectory("three")
	hosts.wantPolite(t, delay)
	if got := digest(t, f.args("reader")...); got != want {
		t.Errorf("digest %s, and that of one process %s", got, want)
	}
	runIndexer(t, f.args("worker", "verify")...)

	again := runIndexer(t, f.args("four", crawl("--again", seed)...)...)
	if !strings.Contains(again, "Fetched 1 page ") {
		t.Errorf("crawl --again: %s", again)
	}
	stopChild(t, worker)
}
