// Package tcpproxy forwards connections to a server, and can behave like a bad network: it
// delays bytes, holds everything back for a while, or breaks connections. Tests and
// benchmarks put it between real processes.
//
//	p, err := tcpproxy.Start("tcp", "127.0.0.1:7071")
//	connectTo(p.Address())
//	p.Cut()   // the network is partitioned
//	p.Heal()  // what was sent meanwhile arrives late
package tcpproxy

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// Proxy is a way to a server.
type Proxy struct {
	network, server string
	listener        net.Listener
	work            sync.WaitGroup
	closed          chan struct{}

	mu    sync.Mutex
	delay time.Duration
	open  chan struct{} // closed while everything passes
	conns map[net.Conn]struct{}
}

// Start listens on a loopback address for connections to a server. network and server are
// arguments of net.Dial.
func Start(network, server string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a proxy for %s: %w", server, err)
	}
	p := &Proxy{
		network: network, server: server, listener: l,
		closed: make(chan struct{}), open: make(chan struct{}), conns: make(map[net.Conn]struct{}),
	}
	close(p.open)
	p.work.Go(p.serve)
	return p, nil
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Delay makes everything that arrives from now on take that long in each direction.
// The number of bytes under way is not limited by it.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Cut holds everything back until Heal, even in new connections. Nothing is lost: it arrives
// late, like packets that TCP sends again.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.passes() {
		p.open = make(chan struct{})
	}
}

// Heal ends Cut.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.passes() {
		close(p.open)
	}
}

// passes is called with mu locked.
func (p *Proxy) passes() bool {
	select {
	case <-p.open:
		return true
	default:
		return false
	}
}

// Break breaks all current connections. What was held back in them is lost.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close() // closing twice is harmless
	}
}

// Close breaks all connections and waits until the proxy has ended. It is called once.
func (p *Proxy) Close() {
	close(p.closed)
	_ = p.listener.Close()
	p.Break()
	p.work.Wait()
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial(p.network, p.server)
		if err != nil {
			_ = client.Close() // the server is down
			continue
		}
		if !p.add(client, server) {
			return
		}
		p.work.Go(func() { p.pump(server, client) })
		p.work.Go(func() { p.pump(client, server) })
	}
}

// add makes a pair of connections known to Break. It closes them and reports false if the
// proxy was closed meanwhile.
func (p *Proxy) add(pair ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range pair {
		p.conns[c] = struct{}{}
	}
	select {
	case <-p.closed:
		for _, c := range pair {
			_ = c.Close()
		}
		return false
	default:
		return true
	}
}

func (p *Proxy) remove(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// chunk is some bytes, and when they are to arrive.
type chunk struct {
	data []byte
	due  time.Time
}

// inFlight bounds the chunks of one direction of a connection that are under way.
const inFlight = 256

// pump moves bytes in one direction until either end is closed, and then closes both.
func (p *Proxy) pump(to, from net.Conn) {
	under := make(chan chunk, inFlight)
	p.work.Go(func() {
		defer close(under)
		for {
			b := make([]byte, 16<<10)
			n, err := from.Read(b)
			if n > 0 {
				p.mu.Lock()
				due := time.Now().Add(p.delay)
				p.mu.Unlock()
				under <- chunk{b[:n], due}
			}
			if err != nil {
				return
			}
		}
	})
	for c := range under {
		p.await(c.due)
		if _, err := to.Write(c.data); err != nil {
			_ = from.Close() // ends the reader; the rest is dropped
		}
	}
	p.remove(to)
	p.remove(from)
}

// await returns when bytes that are due at a time may pass.
func (p *Proxy) await(due time.Time) {
	if wait := time.Until(due); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-p.closed:
			return
		}
	}
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	select {
	case <-open:
	case <-p.closed:
	}
}
