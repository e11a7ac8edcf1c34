package fetch

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

func TestParseProxy(t *testing.T) {
	for _, c := range []struct{ raw, want, err string }{
		{"http://proxy.test:3128", "http://proxy.test:3128", ""},
		{"https://user:secret@proxy.test", "https://user:xxxxx@proxy.test", ""},
		{"socks5://127.0.0.1:1080", "socks5://127.0.0.1:1080", ""},
		{"socks5h://[::1]:1080", "socks5h://[::1]:1080", ""},
		{"proxy.test:3128", "", "scheme must be"},
		{"ftp://user:secret@proxy.test", "", "scheme must be"},
		{"http://", "", "no host"},
		{"http://user:secret@proxy.test:port", "", "write it as"},
		{"", "", "scheme must be"},
	} {
		u, err := ParseProxy(c.raw)
		switch {
		case c.err == "" && (err != nil || u.Redacted() != c.want):
			t.Errorf("%q: %v, %v", c.raw, u, err)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%q: error %v, want one with %q and no password", c.raw, err, c.err)
		}
	}
}

// tunnel is a proxy that connects everything to one address and notes for what.
type tunnel struct {
	mu    sync.Mutex
	asked []string
}

func (p *tunnel) note(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, what)
}

// pipe copies both ways until either ends.
func pipe(a net.Conn, fromA io.Reader, target string) {
	b, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { _, _ = io.Copy(b, fromA); b.Close() })
	_, _ = io.Copy(a, b)
	a.Close()
}

// listen serves connections with a function until the test ends.
func listen(t *testing.T, serve func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() { l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { defer c.Close(); serve(c) })
		}
	})
	return l.Addr().String()
}

// serveHTTP is an HTTP proxy: CONNECT to tunnels, and requests in absolute form.
func (p *tunnel) serveHTTP(target string) func(net.Conn) {
	return func(c net.Conn) {
		r := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			p.note(req.Method + " " + req.RequestURI)
			switch {
			case strings.HasPrefix(req.Host, "forbidden"):
				fmt.Fprint(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
			case req.Method == http.MethodConnect:
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\n")
				pipe(c, r, target)
				return
			default:
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nb-proxied: yes\r\nContent-Length: 2\r\n\r\nok")
			}
		}
	}
}

// serveSOCKS is a SOCKS5 proxy (RFC 1928) without authentication.
func (p *tunnel) serveSOCKS(target string) func(net.Conn) {
	return func(c net.Conn) {
		head := make([]byte, 2)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, c, int64(head[1])); err != nil {
			return
		}
		_, _ = c.Write([]byte{5, 0})
		request := make([]byte, 5) // version, command, 0, address type, length
		if _, err := io.ReadFull(c, request); err != nil {
			return
		}
		name := make([]byte, int(request[4])+2)
		if _, err := io.ReadFull(c, name); err != nil {
			return
		}
		n := len(name) - 2
		p.note(fmt.Sprintf("type %d %s:%d", request[3], name[:n], binary.BigEndian.Uint16(name[n:])))
		status := byte(0)
		if strings.HasPrefix(string(name), "forbidden") {
			status = 2
		}
		_, _ = c.Write([]byte{5, status, 0, 1, 0, 0, 0, 0, 0, 0})
		if status == 0 {
			pipe(c, c, target)
		}
	}
}

// TestProxies: names are left to the proxy, and its failures are not the hosts'.
func TestProxies(t *testing.T) {
	s := site(t, true, true, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	for _, scheme := range []string{"http", "socks5", "socks5h"} {
		t.Run(scheme, func(t *testing.T) {
			var p tunnel
			serve, plain := p.serveHTTP(at(s)), "GET http://example.com/a|b"
			want := []string{"CONNECT example.com:443", "CONNECT forbidden.test:443"}
			if scheme != "http" {
				serve, plain = p.serveSOCKS(at(s)), ""
				want = []string{"type 3 example.com:443", "type 3 forbidden.test:443"}
			}
			proxy := &url.URL{Scheme: scheme, Host: listen(t, serve)}
			f := New(Options{Proxy: proxy, Resolver: unaskedResolver(t), TLS: tlsFor(s)})
			defer f.Close()
			if res := get(t, f, "https://example.com/"); res.Class != OK || string(res.Fetch.Body) != "HTTP/2.0" || res.RemoteAddr.IsValid() {
				t.Errorf("https: %v, body %q", res.Cause, res.Fetch.Body)
			}
			if res := get(t, f, "https://forbidden.test/"); res.Class != Proxy || res.CountsAgainstHost() || !errors.Is(res.Cause, ErrNoTunnel) {
				t.Errorf("refused: %v", res.Cause)
			}
			if plain != "" {
				want = append(want, plain)
				if res := get(t, f, "http://example.com/a|b"); res.Class != OK || !strings.Contains(string(res.HeaderBlock), "b-proxied") {
					t.Errorf("http: %v, %q", res.Cause, res.HeaderBlock)
				}
			}
			if got := strings.Join(p.asked, "\n"); got != strings.Join(want, "\n") {
				t.Errorf("asked\n%s", got)
			}
		})
	}
}

// TestProxyIsDown: that is not the host's fault either.
func TestProxyIsDown(t *testing.T) {
	for _, scheme := range []string{"http", "https", "socks5"} {
		for _, u := range []string{"http://h.test/", "https://h.test/"} {
			f := New(Options{Proxy: &url.URL{Scheme: scheme, Host: closedPort(t)}})
			if res := get(t, f, u); res.Class != Proxy || res.CountsAgainstHost() || errors.Is(res.Cause, ErrNoTunnel) {
				t.Errorf("%s by %s: %v", u, scheme, res.Cause)
			}
			f.Close()
		}
	}
}

// TestConnectFailure: there is no listener.
func TestConnectFailure(t *testing.T) {
	f := newFetcher(t, closedPort(t))
	res := get(t, f, "http://h.test/")
	if res.Fetch.Err != "connect: the connection was refused" || !res.CountsAgainstHost() {
		t.Errorf("%q (%v)", res.Fetch.Err, res.Cause)
	}
}

// closedPort is an address on which a listener was.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
