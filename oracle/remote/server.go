package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/remote/oraclepb"
)

// Server answers the requests of other processes.
type Server struct {
	grpc *grpc.Server
	done chan error
}

const (
	// maxRows bounds the rows of one request.
	maxRows = 10_000
	// maxRequestBytes bounds the bytes of these rows. gRPC refuses messages of more than 4 MiB.
	maxRequestBytes = 1 << 20
	// maxRequests bounds the requests of one connection that are worked on at a time. A
	// client has one pending request for timestamps, and a few for locks.
	maxRequests = 256
	// graceful bounds how long a server waits for requests when it stops.
	graceful = time.Second
)

// Serve answers requests on a listener, until Stop.
func Serve(l net.Listener, o *oracle.Oracle, s Security) (*Server, error) {
	if err := s.Check(l.Addr().String()); err != nil {
		return nil, err
	}
	opts, err := s.ServerOptions()
	if err != nil {
		return nil, err
	}
	opts = append(opts, grpc.MaxConcurrentStreams(maxRequests), grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute}))
	srv := &Server{grpc: grpc.NewServer(opts...), done: make(chan error, 1)}
	oraclepb.RegisterOracleServer(srv.grpc, service{oracle: o})
	go func() { srv.done <- srv.grpc.Serve(l) }()
	return srv, nil
}

// Done receives the error that ended the server, or nil after Stop.
func (s *Server) Done() <-chan error { return s.done }

// Stop completes the requests that are being worked on, and closes all connections.
func (s *Server) Stop() {
	force := time.AfterFunc(graceful, s.grpc.Stop)
	defer force.Stop()
	s.grpc.GracefulStop()
}

// service turns messages into calls.
type service struct {
	oraclepb.UnimplementedOracleServer
	oracle *oracle.Oracle
}

func (s service) Timestamps(ctx context.Context, r *oraclepb.TimestampsRequest) (*oraclepb.TimestampsReply, error) {
	first, err := s.oracle.Take(ctx, uint64(r.Count))
	if err != nil {
		return nil, failure(err)
	}
	return &oraclepb.TimestampsReply{First: first, Token: s.oracle.Token()}, nil
}

func (s service) Lock(ctx context.Context, r *oraclepb.LockRequest) (*oraclepb.LockReply, error) {
	rows, err := rowsOf(r.Rows)
	if err != nil {
		return nil, err
	}
	got, err := s.oracle.TryLock(ctx, r.Token, rows)
	if err != nil {
		return nil, failure(err)
	}
	return &oraclepb.LockReply{Got: got}, nil
}

func (s service) Unlock(ctx context.Context, r *oraclepb.UnlockRequest) (*oraclepb.UnlockReply, error) {
	rows, err := rowsOf(r.Rows)
	if err != nil {
		return nil, err
	}
	return &oraclepb.UnlockReply{}, failure(s.oracle.Unlock(ctx, r.Token, rows))
}

func rowsOf(rows [][]byte) ([]string, error) {
	if len(rows) > maxRows {
		return nil, status.Error(codes.InvalidArgument, fmt.Sprintf("%d rows in one request, at most %d", len(rows), maxRows))
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = string(r)
	}
	return names, nil
}

func (s service) Status(_ context.Context, q *oraclepb.StatusRequest) (*oraclepb.StatusReply, error) {
	st := s.oracle.Status()
	r := &oraclepb.StatusReply{
		Serving: st.Serving, Term: st.Term, Last: st.Last, Ceiling: st.Ceiling,
		HandedOut: st.HandedOut, Requests: st.Requests, Locks: uint64(st.Locks), Liveness: st.Domain,
		Token: s.oracle.Token(), PerSecond: st.PerSecond, AgeMs: uint64(s.oracle.Age(q.AgeOf).Milliseconds()),
	}
	if st.Serving {
		r.ServingMs = uint64(time.Since(st.Since).Milliseconds())
	}
	return r, nil
}

// failure gives an error the code that tells a client what to do: Unavailable says that
// another oracle, or the same one later, can answer, and that nothing happened.
func failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, oracle.ErrNotServing), errors.Is(err, oracle.ErrReplaced):
		return status.Error(codes.Unavailable, err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.Internal, err.Error())
}
