package remote

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"github.com/webindexer/indexer/oracle"
)

// halfOpen is the client's end of a connection. Once it is lost, what the client sends does not
// arrive, and neither end learns of it.
type halfOpen struct {
	net.Conn
	lost atomic.Bool
}

func (h *halfOpen) Write(b []byte) (int, error) {
	if h.lost.Load() {
		return len(b), nil
	}
	return h.Conn.Write(b)
}

// TestHalfOpen: something between a client and the only oracle loses what the client sends and keeps
// the connection. The client must not keep to this connection.
func TestHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, l := newTable(t), bufconn.Listen(1<<10)
		o, err := oracle.Start(t.Context(), table, oracle.Options{
			Join: func(ctx context.Context) (oracle.Member, error) { return oracle.Join(ctx, table, 0) },
		})
		if err != nil {
			t.Fatal(err)
		}
		srv, err := Serve(loopback{l}, o, Security{})
		if err != nil {
			t.Fatal(err)
		}
		defer (&site{Oracle: o, Server: srv}).end(t)
		var conn atomic.Pointer[halfOpen] // the newest
		c, err := Connect([]string{"127.0.0.1:1"}, "a", Options{dial: func(ctx context.Context, _ string) (net.Conn, error) {
			h := new(halfOpen)
			h.Conn, err = l.DialContext(ctx)
			conn.Store(h)
			return h, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
		for range 3 {
			began := time.Now()
			if _, err := c.Next(t.Context()); err != nil || time.Since(began) > 15*time.Second {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
			conn.Load().lost.Store(true)
		}
	})
}

// loopback has the address of a loopback interface.
type loopback struct{ net.Listener }

func (loopback) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
