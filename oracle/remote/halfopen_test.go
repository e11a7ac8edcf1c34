package remote

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/remote/oraclepb"
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
// the connection. The client must not keep to this connection. It keeps one that is merely idle: the
// server does not take the checks for an attack.
func TestHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, l := newTable(t), bufconn.Listen(1<<10)
		o, err := oracle.Start(t.Context(), table, oracle.Options{
			Join: func(ctx context.Context) (oracle.Member, error) { return oracle.Join(ctx, table) },
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
		began := time.Now()
		for round := range 3 {
			asked := time.Now()
			if _, err := c.Next(t.Context()); err != nil || time.Since(asked) > 15*time.Second {
				t.Errorf("after %v: %v", time.Since(asked), err)
			}
			if round < 2 {
				conn.Load().lost.Store(true)
			}
		}
		for last := conn.Load(); conn.Load() == last && time.Since(began) < time.Hour; time.Sleep(silentFor + time.Second) {
			if _, err := c.Next(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if time.Since(began) < time.Hour {
			t.Errorf("the client connects again after %v", time.Since(began))
		}
	})
}

// loopback has the address of a loopback interface.
type loopback struct{ net.Listener }

func (loopback) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// TestLongRequest: the server does not take the checks during a long request for an attack.
func TestLongRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := bufconn.Listen(1 << 10)
		opts, err := Security{}.ServerOptions()
		if err != nil {
			t.Fatal(err)
		}
		srv := grpc.NewServer(append(opts, grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
			if err := s.RecvMsg(new(oraclepb.StatusRequest)); err != nil {
				return err
			}
			time.Sleep(10 * time.Minute)
			return s.SendMsg(new(oraclepb.StatusReply))
		}))...)
		served := make(chan error)
		go func() { served <- srv.Serve(l) }()
		dial, err := Security{}.DialOptions()
		if err != nil {
			t.Fatal(err)
		}
		conn, err := grpc.NewClient("passthrough:///long", append(dial, grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return l.DialContext(ctx)
		}))...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := oraclepb.NewOracleClient(conn).Status(t.Context(), new(oraclepb.StatusRequest)); err != nil {
			t.Error(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		srv.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
