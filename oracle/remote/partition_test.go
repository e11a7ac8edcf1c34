package remote

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/etcdtest"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/etcd"
)

// proxy passes connections on to an address, and can hold back everything, as a network
// does that drops packets.
type proxy struct {
	listener net.Listener
	to       string
	work     sync.WaitGroup

	mu    sync.Mutex
	open  chan struct{} // closed while it passes everything
	conns []net.Conn
}

func startProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, to: to, open: make(chan struct{})}
	close(p.open)
	p.work.Go(p.run)
	t.Cleanup(func() {
		_ = l.Close() // ends run
		p.heal()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.work.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// cut holds back everything until heal.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

func (p *proxy) passes() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open
}

func (p *proxy) run() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		p.work.Go(func() { p.pump(server, client) })
		p.work.Go(func() { p.pump(client, server) })
	}
}

func (p *proxy) pump(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		<-p.passes()
		if _, werr := to.Write(b[:n]); err != nil || werr != nil {
			return
		}
	}
}

// TestPartitions: the oracle that serves is cut off from etcd, and then a client from the
// oracle that serves.
func TestPartitions(t *testing.T) {
	if testing.Short() {
		t.Skip("etcd is built from source")
	}
	table, server := newTable(t), etcdtest.Start(t)
	links := []*proxy{startProxy(t, server.Endpoint), startProxy(t, server.Endpoint)}
	var sites []*site
	for _, link := range links {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		client, err := etcd.Dial([]string{link.address()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := oracle.Start(t.Context(), table, oracle.Options{
			Join: func(ctx context.Context) (oracle.Member, error) { return etcd.Join(ctx, client, 0) },
		})
		if err != nil {
			t.Fatal(err)
		}
		srv, err := Serve(l, o, Security{})
		if err != nil {
			t.Fatal(err)
		}
		s := &site{o, srv, l.Addr().String()}
		sites = append(sites, s)
		defer func() {
			s.end(t)
			if err := client.Close(); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}()
	}
	c := connect(t, Security{}, sites[0].address, sites[1].address)
	var last uint64
	take := func() {
		t.Helper()
		ts, err := c.Next(t.Context())
		if err != nil || ts <= last {
			t.Fatalf("%d after %d, %v", ts, last, err)
		}
		last = ts
	}
	serving := func() int {
		for i, s := range sites {
			if s.Status().Serving {
				return i
			}
		}
		return -1
	}
	take()
	old := serving()
	links[old].cut()
	for began := time.Now(); serving() != 1-old; take() {
		if time.Since(began) > time.Minute {
			t.Fatal("nobody has taken over")
		}
	}
	refuses(t, sites[old].address)
	take()
	links[old].heal()
	refuses(t, sites[old].address)
	take()

	// A client that reaches only the standby waits, and goes on afterwards.
	way := startProxy(t, sites[1-old].address)
	far := connect(t, Security{}, way.address(), sites[old].address)
	ts, err := far.Next(t.Context())
	if err != nil || ts <= last {
		t.Fatalf("%d after %d, %v", ts, last, err)
	}
	way.cut()
	ctx, cancel := context.WithTimeout(t.Context(), 2*answerWithin)
	defer cancel()
	if ts, err := far.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a client that is cut off got %d, %v", ts, err)
	}
	take() // others go on
	way.heal()
	if ts, err = far.Next(t.Context()); err != nil || ts <= last {
		t.Errorf("%d after %d, %v", ts, last, err)
	}
}
