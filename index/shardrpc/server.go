package shardrpc

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/webindexer/indexer/index/search"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

// Holder has the shards that a server searches.
type Holder interface {
	Shards() []Shard
	// Begin pins the state of a shard.
	Begin(ctx context.Context, number, of int) (search.Session, error)
}

// Server answers searches of other processes.
type Server struct {
	grpc *grpc.Server
	done chan error
	end  context.CancelFunc // of work that outlives its stream
}

const (
	// maxSessions bounds the sessions of one connection; further ones wait.
	maxSessions = 64
	// graceful bounds how long a server waits for searches when it stops.
	graceful = time.Second
	// tableWithin bounds how long a table of completions may take.
	tableWithin = time.Minute
)

// Serve answers on a listener, until Stop. Serve calls report with each panic in an answer
// and its stack. The options say which clients are admitted.
func Serve(l net.Listener, h Holder, report func(error), opts ...grpc.ServerOption) *Server {
	opts = append(opts, grpc.ForceServerCodec(codec{}), grpc.MaxRecvMsgSize(maxQuestion), grpc.MaxSendMsgSize(maxAnswer),
		grpc.MaxConcurrentStreams(maxSessions), grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute}))
	alive, end := context.WithCancel(context.Background())
	s := &Server{grpc: grpc.NewServer(opts...), done: make(chan error, 1), end: end}
	s.grpc.RegisterService(&grpc.ServiceDesc{
		ServiceName: serviceName, HandlerType: (*Holder)(nil),
		Streams: []grpc.StreamDesc{{
			StreamName: streamName, ServerStreams: true, ClientStreams: true,
			Handler: func(_ any, stream grpc.ServerStream) error { return session(alive, h, report, stream) },
		}},
	}, h)
	go func() { s.done <- s.grpc.Serve(l) }()
	return s
}

// Stop gives running searches a moment to complete, and closes all connections. It
// returns the error that ended the server before, if any.
func (s *Server) Stop() error {
	defer s.end()
	force := time.AfterFunc(graceful, func() {
		s.end()
		s.grpc.Stop()
	})
	defer force.Stop()
	s.grpc.GracefulStop()
	if err := <-s.done; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return err
	}
	return nil
}

// session answers the questions of one search. It ends with the stream, whose deadline the
// client sets.
//
// Only the first completion may take longer: it makes the table of the shard, which takes seconds if
// the shard is large. By then the client has given up, but later clients find the table.
func session(alive context.Context, h Holder, report func(error), stream grpc.ServerStream) (err error) {
	if end, ok := stream.Context().Deadline(); !ok || time.Until(end) > 2*sessionWithin {
		return status.Error(codes.InvalidArgument, "a search of a shard needs a deadline")
	}
	var first hello
	if err := stream.RecvMsg(&first); err != nil {
		return err
	}
	if first.List {
		return stream.SendMsg(&reply{Shards: h.Shards()})
	}
	ctx, cancel := context.WithCancel(alive)
	defer cancel()
	outlive := context.AfterFunc(stream.Context(), cancel)
	defer outlive()
	s, err := h.Begin(ctx, first.Number, first.Of)
	if err != nil {
		return stream.SendMsg(&reply{Error: err.Error()})
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	s = search.Guard(s, report)
	if err := stream.SendMsg(&reply{}); err != nil {
		return err
	}
	for {
		var q search.Question
		if err := stream.RecvMsg(&q); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if q.Completion != nil {
			outlive()
		}
		r := reply{}
		if r.Answer, err = ask(ctx, s, &q); err != nil {
			r.Error = err.Error()
		}
		if err := stream.SendMsg(&r); err != nil {
			return err
		}
	}
}

// ask answers a question.
func ask(ctx context.Context, s search.Session, q *search.Question) (*search.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, tableWithin)
	defer cancel()
	return s.Ask(ctx, q)
}
