package remote

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/etcdtest"
	"github.com/webindexer/indexer/internal/tcpproxy"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/etcd"
	"github.com/webindexer/indexer/store"
)

// startProxy puts a proxy before an address.
func startProxy(t *testing.T, to string) *tcpproxy.Proxy {
	t.Helper()
	p, err := tcpproxy.Start("tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestPartitions: the oracle that serves is cut off from etcd, and then a client from the
// oracle that serves.
func TestPartitions(t *testing.T) {
	if testing.Short() {
		t.Skip("etcd is built from source")
	}
	table, server := newTable(t), etcdtest.Start(t)
	links := []*tcpproxy.Proxy{startProxy(t, server.Endpoint), startProxy(t, server.Endpoint)}
	sites := []*site{startEtcdSite(t, table, links[0]), startEtcdSite(t, table, links[1])}
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
	links[old].Cut()
	for began := time.Now(); serving() != 1-old; take() {
		if time.Since(began) > time.Minute {
			t.Fatal("nobody has taken over")
		}
	}
	refuses(t, sites[old].address)
	take()
	links[old].Heal()
	refuses(t, sites[old].address)
	take()

	// A client that reaches only the standby waits, and continues afterwards.
	way := startProxy(t, sites[1-old].address)
	far := connect(t, Security{}, way.Address(), sites[old].address)
	ts, err := far.Next(t.Context())
	if err != nil || ts <= last {
		t.Fatalf("%d after %d, %v", ts, last, err)
	}
	way.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 2*answerWithin)
	defer cancel()
	if ts, err := far.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a client that is cut off got %d, %v", ts, err)
	}
	take() // others continue
	way.Heal()
	if ts, err = far.Next(t.Context()); err != nil || ts <= last {
		t.Errorf("%d after %d, %v", ts, last, err)
	}
}

// startEtcdSite starts a site that reaches etcd by way of a proxy.
func startEtcdSite(t *testing.T, table store.Table, link *tcpproxy.Proxy) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := etcd.Dial([]string{link.Address()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := oracle.Start(t.Context(), table, oracle.Options{
		Join: func(ctx context.Context) (oracle.Member, error) { return etcd.Join(ctx, client) },
	})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := Serve(l, o, Security{})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{o, srv, l.Addr().String()}
	t.Cleanup(func() {
		s.end(t)
		if err := client.Close(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return s
}
