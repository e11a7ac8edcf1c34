// Emulator is Google's in-memory emulator of Bigtable, changed so that rows change
// atomically, as in Bigtable. It listens at -address, prints where, and runs until it is
// interrupted.
//
// Google's own emulator (bttest at v1.58.0) copies a row to read it, but the copy shares
// the names of its columns with the row: while a mutation removes a column, a reader of the
// copy can miss another column, such as a lock. This program never reads a row while it is
// being changed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"cloud.google.com/go/bigtable/bttest"
	"google.golang.org/grpc"
)

func main() {
	address := flag.String("address", "127.0.0.1:0", "where to listen")
	flag.Parse()
	if err := run(os.Stdout, *address); err != nil {
		fmt.Fprintln(os.Stderr, "emulator:", err)
		os.Exit(1)
	}
}

// maxMessage is the size of the largest message in bytes, as in Google's command.
const maxMessage = 256 << 20

func run(stdout io.Writer, address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var rows atomicRows
	server, err := bttest.NewServer(address,
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
		grpc.UnaryInterceptor(rows.unary), grpc.StreamInterceptor(rows.stream))
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	defer server.Close()
	if _, err := fmt.Fprintf(stdout, "Bigtable emulator running on %s\n", server.Addr); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// atomicRows keeps reads apart from changes.
type atomicRows struct {
	mu sync.RWMutex
}

// unary runs calls that change rows, or the schema. None of them waits for its client.
func (a *atomicRows) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return handler(ctx, req)
}

// stream runs calls with several answers: MutateRows, and those that read.
func (a *atomicRows) stream(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	held := a.mu.RLocker()
	if strings.HasSuffix(info.FullMethod, "/MutateRows") {
		held = &a.mu
	}
	held.Lock()
	defer held.Unlock()
	return handler(srv, &polite{s, held})
}

// polite is a stream that does not hold a lock while it waits for its client, who may have
// to write before it reads on.
type polite struct {
	grpc.ServerStream
	held sync.Locker
}

// SendMsg sends an answer, which is complete: it shares nothing with a row that changes.
func (p *polite) SendMsg(m any) error {
	p.held.Unlock()
	defer p.held.Lock()
	return p.ServerStream.SendMsg(m)
}

// RecvMsg receives the request, for which the client may take its time.
func (p *polite) RecvMsg(m any) error {
	p.held.Unlock()
	defer p.held.Lock()
	return p.ServerStream.RecvMsg(m)
}
