package pgtest

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
)

// Proxy stands between a program and the server, and can hold back what passes.
type Proxy struct {
	socket   string
	listener net.Listener
	pumps    sync.WaitGroup

	mu    sync.Mutex
	moved sync.Cond // broadcast when anything below changes
	links map[*link]bool
	shut  bool
}

// link is one connection through the proxy.
type link struct {
	client, server         net.Conn
	holdClient, holdServer bool // what comes from there stays in the proxy
}

// Proxy starts a proxy on a loopback address. It ends with the test.
func (s *Server) Proxy(t testing.TB) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{socket: s.Socket(), listener: l, links: map[*link]bool{}}
	p.moved.L = &p.mu
	p.pumps.Go(p.serve)
	t.Cleanup(p.close)
	return p
}

// URL is a setting of Server.Schema by way of the proxy.
func (p *Proxy) URL(t testing.TB, setting string) string {
	return At(t, setting, p.listener.Addr().String())
}

// At is a setting of Server.Schema with another address, of something that passes
// connections on to Server.Socket.
func At(t testing.TB, setting, address string) string {
	t.Helper()
	u, err := url.Parse(setting)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = address, q.Encode()
	return u.String()
}

// HoldRequests and HoldAnswers hold back, in all current connections, what the program or
// the server sends from now on. New connections are not affected.
func (p *Proxy) HoldRequests() { p.each(func(l *link) { l.holdClient = true }) }

// HoldAnswers is described at HoldRequests.
func (p *Proxy) HoldAnswers() { p.each(func(l *link) { l.holdServer = true }) }

// Release delivers what was held back.
func (p *Proxy) Release() { p.each(func(l *link) { l.holdClient, l.holdServer = false, false }) }

// Cut breaks all current connections. What was held back is lost.
func (p *Proxy) Cut() { p.each((*link).close) }

func (p *Proxy) each(do func(*link)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		do(l)
	}
	p.moved.Broadcast()
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.shut = true
	p.mu.Unlock()
	_ = p.listener.Close()
	p.Cut()
	p.pumps.Wait()
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("unix", p.socket)
		if err != nil {
			_ = client.Close() // the server is down
			continue
		}
		l := &link{client: client, server: server}
		p.mu.Lock()
		if p.shut {
			l.close()
		}
		p.links[l] = true
		p.mu.Unlock()
		p.pumps.Go(func() { p.pump(l, server, client, &l.holdClient) })
		p.pumps.Go(func() { p.pump(l, client, server, &l.holdServer) })
	}
}

// pump moves bytes until either end is closed. It delivers what it holds first.
func (p *Proxy) pump(l *link, to, from net.Conn, held *bool) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for *held && p.links[l] && !p.shut {
			p.moved.Wait()
		}
		p.mu.Unlock()
		if n > 0 {
			if _, werr := to.Write(buffer[:n]); werr != nil {
				err = io.ErrClosedPipe
			}
		}
		if err != nil {
			p.mu.Lock()
			l.close()
			delete(p.links, l)
			p.moved.Broadcast()
			p.mu.Unlock()
			return
		}
	}
}

func (l *link) close() {
	_ = l.client.Close() // closing twice is harmless
	_ = l.server.Close()
	l.holdClient, l.holdServer = false, false
}

// Refuse makes new connections impossible, as a server that is down does.
func (p *Proxy) Refuse() { _ = p.listener.Close() }
