package bigtabletest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Fault is what happens to one request on its way through a Proxy.
type Fault struct {
	Kind Kind
	// Wait is for Delay.
	Wait time.Duration
}

// Kind is a kind of Fault.
type Kind uint8

// The kinds.
const (
	None  Kind = iota
	Fail       // the request does not reach the server
	Lost       // the server does what was asked, and the answer is lost
	Delay      // the request waits
)

// Proxy stands between a client and an emulator. To the client, a lost request or answer
// is a broken connection.
type Proxy struct {
	// Host is its address.
	Host string

	mu     sync.Mutex
	plan   func(method string) Fault
	counts map[string]int
}

// NewProxy starts a proxy, which ends with the test. plan is called for each request, one at
// a time, with the last part of the method's name, such as "CheckAndMutateRow".
func NewProxy(t testing.TB, host string, plan func(method string) Fault) *Proxy {
	t.Helper()
	p := &Proxy{plan: plan, counts: map[string]int{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.Host = listener.Addr().String()
	conn, err := grpc.NewClient("passthrough:///"+host, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.UnknownServiceHandler(func(_ any, in grpc.ServerStream) error { return p.forward(conn, in) }))
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

const maxMessage = 256 << 20

// Count returns how many requests of a method there were.
func (p *Proxy) Count(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[method]
}

// next counts a request and chooses its fault.
func (p *Proxy) next(method string) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[method]++
	if p.plan == nil {
		return Fault{}
	}
	return p.plan(method)
}

// forward passes one request on and its answers back. All methods of Bigtable that tables use
// have one request.
func (p *Proxy) forward(conn *grpc.ClientConn, in grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(in)
	fault := p.next(path.Base(method))
	broken := status.Error(codes.Unavailable, "the proxy broke the connection")
	var request []byte
	if err := in.RecvMsg(&request); err != nil {
		return err
	}
	switch fault.Kind {
	case Fail:
		return broken
	case Delay:
		timer := time.NewTimer(fault.Wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-in.Context().Done():
			return in.Context().Err()
		}
	}
	md, _ := metadata.FromIncomingContext(in.Context())
	ctx := metadata.NewOutgoingContext(in.Context(), md.Copy())
	if fault.Kind == Lost {
		ctx = context.WithoutCancel(ctx) // the server completes a request even if the client gives up
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	if err := errors.Join(out.SendMsg(&request), out.CloseSend()); err != nil {
		return err
	}
	for {
		var answer []byte
		err := out.RecvMsg(&answer)
		switch {
		case err != nil && fault.Kind == Lost:
			return broken
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case fault.Kind == Lost:
			continue
		}
		if err := in.SendMsg(&answer); err != nil {
			return err
		}
	}
}

// raw is a codec that leaves messages as they are.
type raw struct{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) ([]byte, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("a message of type %T", v)
	}
	return *b, nil
}

func (raw) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("a message of type %T", v)
	}
	*b = append([]byte(nil), data...)
	return nil
}
