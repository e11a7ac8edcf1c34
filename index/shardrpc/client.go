package shardrpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/unanswered"
)

// Client asks one server. It is safe for concurrent use.
type Client struct {
	address string
	conn    *grpc.ClientConn
}

// connectAgain is the longest pause between two attempts to connect. The default of gRPC is two
// minutes: for so long, results would lack the shards of a server that is back.
const connectAgain = 2 * time.Second

// connectWithin bounds an attempt to connect. It is longer than beginWithin: if both ended at once, it
// would depend on the scheduler whether the error about a silent server says how long the client waited.
const connectWithin = beginWithin + time.Second

// Dial makes a client for a server. It does not connect yet.
func Dial(address string, opts ...grpc.DialOption) (*Client, error) {
	again := backoff.DefaultConfig
	again.MaxDelay = connectAgain
	opts = append(opts, grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: connectWithin}), grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{}), grpc.MaxCallRecvMsgSize(maxAnswer), grpc.MaxCallSendMsgSize(maxQuestion)))
	conn, err := grpc.NewClient("passthrough:///"+address, opts...)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	return &Client{address, conn}, nil
}

// Close closes the connection. End sessions first.
func (c *Client) Close() error { return c.conn.Close() }

// Shards asks which shards the server has.
func (c *Client) Shards(ctx context.Context) ([]Shard, error) {
	s, r, err := c.begin(ctx, hello{List: true})
	if err != nil {
		return nil, err
	}
	return r.Shards, s.Close()
}

// Shard returns a shard that the server has.
func (c *Client) Shard(number, of int) search.ShardSource { return source{c, Shard{number, of}} }

type source struct {
	*Client
	shard Shard
}

// Name implements search.ShardSource.
func (s source) Name() string {
	return fmt.Sprintf("%v at %s", s.shard, s.address)
}

// Begin implements search.ShardSource.
func (s source) Begin(ctx context.Context) (search.Session, error) {
	session, _, err := s.begin(ctx, hello{Number: s.shard.Number, Of: s.shard.Of})
	if err != nil {
		return nil, err
	}
	return session, nil
}

// begin opens a stream and sends its first message.
func (c *Client) begin(ctx context.Context, first hello) (*clientSession, *reply, error) {
	ctx, end := context.WithTimeoutCause(ctx, sessionWithin, noAnswer(sessionWithin))
	ctx, cancel := context.WithCancelCause(ctx)
	s := &clientSession{ctx: ctx, cancel: cancel, end: end}
	var r *reply
	err := s.within(beginWithin, func() (err error) {
		if s.stream, err = c.conn.NewStream(ctx, &streamDesc, "/"+serviceName+"/"+streamName); err != nil {
			return s.unavailable(err)
		}
		r, err = s.exchange(&first)
		return err
	})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, r, nil
}

type clientSession struct {
	ctx    context.Context   // of the stream
	stream grpc.ClientStream // nil: the stream could not be opened
	cancel context.CancelCauseFunc
	end    context.CancelFunc
}

// within ends the session if a call takes too long.
func (s *clientSession) within(limit time.Duration, call func() error) error {
	late := time.AfterFunc(limit, func() { s.cancel(noAnswer(limit)) })
	err := call()
	if !late.Stop() && err == nil {
		err = s.unavailable(noAnswer(limit))
	}
	return err
}

// exchange sends a message and receives the answer.
func (s *clientSession) exchange(message any) (*reply, error) {
	if err := s.stream.SendMsg(message); err != nil {
		// The reason is the server's status, which RecvMsg returns.
		if why := s.stream.RecvMsg(new(reply)); why != nil {
			err = why
		}
		return nil, s.unavailable(err)
	}
	r := new(reply)
	if err := s.stream.RecvMsg(r); err != nil {
		return nil, s.unavailable(err)
	}
	if r.Error != "" {
		return nil, fmt.Errorf("%w: %s", search.ErrUnavailable, r.Error)
	}
	return r, nil
}

// Ask implements search.Session.
func (s *clientSession) Ask(_ context.Context, q *search.Question) (*search.Answer, error) {
	var r *reply
	err := s.within(answerWithin, func() (err error) {
		r, err = s.exchange(q)
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.Answer == nil {
		return nil, fmt.Errorf("%w: an empty answer", search.ErrUnavailable)
	}
	return r.Answer, nil
}

// Close implements search.Session.
func (s *clientSession) Close() error {
	defer s.end()
	defer s.cancel(nil)
	if s.stream == nil {
		return nil
	}
	return s.stream.CloseSend()
}

// unavailable says why there is no answer. gRPC says only that the stream was cancelled, not
// why.
func (s *clientSession) unavailable(err error) error {
	if why := context.Cause(s.ctx); why != nil {
		return fmt.Errorf("%w: %w", search.ErrUnavailable, why)
	}
	return fmt.Errorf("%w: %s", search.ErrUnavailable, unanswered.Why(err))
}

// noAnswer says how long the client waited for an answer.
func noAnswer(within time.Duration) error { return fmt.Errorf("no answer within %s", within) }
