package crawltest

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// proxy forwards requests in absolute form and opens tunnels, and notes both.
type proxy struct {
	addr string
	mu   sync.Mutex
	// forwarded are requests and tunnels are CONNECTs, by host and port.
	forwarded, tunnels map[string]int
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String(), forwarded: make(map[string]int), tunnels: make(map[string]int)}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(c) })
		}
	})
	return p
}

func (p *proxy) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		connect := req.Method == http.MethodConnect
		p.note(req.Host, connect)
		there, err := net.Dial("tcp", req.Host)
		if err != nil {
			_, _ = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		if connect {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			var wg sync.WaitGroup
			wg.Go(func() { _, _ = io.Copy(there, r); _ = there.Close() })
			_, _ = io.Copy(c, there)
			_ = c.Close()
			wg.Wait()
			return
		}
		req.Close = true
		if err = req.Write(there); err == nil {
			_, _ = io.Copy(c, there)
		}
		_ = there.Close()
		return
	}
}

func (p *proxy) note(host string, connect bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if connect {
		p.tunnels[host]++
	} else {
		p.forwarded[host]++
	}
}

// TestProxy: all requests go through the proxy, https in tunnels, and the index equals
// that of a crawl without it.
func TestProxy(t *testing.T) {
	t.Parallel()
	const delay = 5 * time.Millisecond
	w := Serve(t, plainPages("open.ip100", 8)+tlsWeb("left.ip101", "right.ip102", 8))
	seeds := []page.URL{w.URL("http://open.ip100/p/1"), w.URL("https://left.ip101/"), w.URL("https://right.ip102/")}
	crawl := func(via *url.URL) (string, string) {
		w.Forget()
		s := NewSetting(t.TempDir(), delay, seeds...)
		s.Fetch.Proxy = via
		if err := trust(&s.Fetch, w.Roots()); err != nil {
			t.Fatal(err)
		}
		_, digest := crawlOnce(t, s)
		w.CheckCounts(t, w.Expected(t))
		w.CheckPoliteness(t, delay)
		_, replayed := Replay(t, s.WARC)
		return digest, replayed
	}
	direct, _ := crawl(nil)
	p := newProxy(t)
	digest, replayed := crawl(&url.URL{Scheme: "http", Host: p.addr})
	if digest != direct || replayed != direct {
		t.Errorf("by the proxy the digest is %s, of its archive %s, without proxy %s", digest, replayed, direct)
	}

	requests := make(map[string]int) // that the servers saw, by address
	for _, x := range w.Log() {
		requests[w.hosts[x.Host].address]++
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range w.hosts {
		switch {
		case h.secure && (p.tunnels[h.address] == 0 || p.forwarded[h.address] > 0):
			t.Errorf("%s: %d tunnels and %d requests in the clear", h.name, p.tunnels[h.address], p.forwarded[h.address])
		case !h.secure && p.forwarded[h.address] != requests[h.address]:
			t.Errorf("%s saw %d requests, the proxy passed %d on", h.name, requests[h.address], p.forwarded[h.address])
		}
	}
}

// TestProxyGuard: even with a proxy, a crawl without permission for private addresses
// does not request any that the URL reveals.
func TestProxyGuard(t *testing.T) {
	t.Parallel()
	w := Serve(t, "-- 2024-01-01 http://secret.ip103/ --\n<title>Secret</title><p>Only this machine may read this page, not even through a proxy that could.\n")
	p := newProxy(t)
	s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://secret.ip103/"), "http://localhost/", "http://[::1]/")
	s.Fetch.AllowPrivate, s.WARC = false, ""
	s.Fetch.Proxy = &url.URL{Scheme: "http", Host: p.addr}
	if docs, _ := crawlOnce(t, s); len(docs) > 0 || len(w.Log()) > 0 || len(p.forwarded)+len(p.tunnels) > 0 {
		t.Errorf("%d documents, %d requests, the proxy was asked for %v and %v", len(docs), len(w.Log()), p.forwarded, p.tunnels)
	}
}
