package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/internal/unanswered"
	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/remote/oraclepb"
	"github.com/webindexer/indexer/txn"
)

// Options of Connect.
type Options struct {
	Security
	// RetryFor is how long a call keeps asking when no oracle answers; 0 means 30 s.
	RetryFor time.Duration
	// Holder reads from the table which process serves it (oracle.ReadHolder): timestamps of
	// the oracle of another table would put writes out of order for ever. Without Holder, the
	// addresses are trusted.
	Holder func(context.Context) (oracle.Holder, error)
	// Waiting is called when no oracle has answered for TellAfter, once until one answers. The
	// error says why. The call keeps asking.
	Waiting func(error)
	// TellAfter is 3 s if it is 0: longer than another oracle takes to take over.
	TellAfter time.Duration

	dial func(context.Context, string) (net.Conn, error) // nil but in tests
}

const (
	// answerWithin bounds how long one oracle is waited for. A later answer is discarded,
	// and another oracle is asked.
	answerWithin = 500 * time.Millisecond
	// askAgain is the pause after all oracles have failed to answer.
	askAgain = 25 * time.Millisecond
	// readWithin bounds how long the table is waited for (Client.recognise).
	readWithin = 5 * time.Second
)

// ErrClosed means that the client was closed.
var ErrClosed = errors.New("oracle: the client is closed")

// ErrOtherTable means that an oracle is not the one that the table names.
var ErrOtherTable = errors.New("oracle: it serves another store; correct the setting oracle")

// Client is the connection of a process to the oracles of its table, one of which serves
// at a time.
//
// Whatever its callers need, it has one pending request for timestamps, which carries all
// that are waiting when it is sent (paper, section 2.3). So the number of requests does
// not grow with the number of callers.
type Client struct {
	token    string
	retryFor time.Duration
	peers    []*peer
	good     atomic.Int32 // the peer that answered last
	holder   func(context.Context) (oracle.Holder, error)
	known    string      // the token of the oracle that the table named last; only run uses it
	waiting  func(error) // nil: nobody wants to know
	tell     time.Duration
	told     atomic.Bool               // waiting was called since the last answer
	answered atomic.Pointer[time.Time] // when an oracle answered last, or Connect was called

	mu     sync.Mutex
	open   *batch // collects callers until the next request
	closed bool
	ring   chan struct{} // there is an open batch

	cancel context.CancelFunc
	work   sync.WaitGroup
}

// peer is one of the oracles.
type peer struct {
	address string
	conn    *grpc.ClientConn
	oraclepb.OracleClient
}

// batch is a set of callers that one request answers.
type batch struct {
	n     uint32 // how many timestamps they need
	done  chan struct{}
	first uint64
	err   error
}

// Connect prepares connections to the oracles at some addresses, for the process with a
// liveness token. It waits for none of them: the first call does.
func Connect(addresses []string, token string, opts Options) (*Client, error) {
	if len(addresses) == 0 {
		return nil, errors.New("oracle: no address of an oracle is given")
	}
	opts.RetryFor, opts.TellAfter = cmp.Or(opts.RetryFor, 30*time.Second), cmp.Or(opts.TellAfter, 3*time.Second)
	dial, err := opts.DialOptions()
	if err != nil {
		return nil, err
	}
	// The defaults would wait for up to two minutes before they connect again.
	dial = append(dial, grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: answerWithin},
		MinConnectTimeout: answerWithin,
	}))
	if opts.dial != nil {
		dial = append(dial, grpc.WithContextDialer(opts.dial))
	}
	c := &Client{token: token, retryFor: opts.RetryFor, holder: opts.Holder, waiting: opts.Waiting, tell: opts.TellAfter, ring: make(chan struct{}, 1)}
	c.noteAnswer()
	for _, a := range addresses {
		if err := opts.Check(a); err != nil {
			return nil, errors.Join(err, c.closePeers())
		}
		conn, err := grpc.NewClient("passthrough:///"+a, dial...)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("oracle: address %q: %w", a, err), c.closePeers())
		}
		c.peers = append(c.peers, &peer{address: a, conn: conn, OracleClient: oraclepb.NewOracleClient(conn)})
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.work.Go(func() { c.run(ctx) })
	return c, nil
}

// Close ends all calls and connections.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.work.Wait()
	return c.closePeers()
}

func (c *Client) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

func (c *Client) closePeers() error {
	var errs []error
	for _, p := range c.peers {
		errs = append(errs, p.conn.Close())
	}
	return errors.Join(errs...)
}

// Next implements txn.Timestamps.
func (c *Client) Next(ctx context.Context) (uint64, error) { return c.join(ctx, 1) }

// Last implements txn.Timestamps.
func (c *Client) Last(ctx context.Context) (uint64, error) {
	next, err := c.join(ctx, 0)
	return next - 1, err
}

// join waits for the next request, with the callers that come until it is sent, and
// returns its part of the answer.
func (c *Client) join(ctx context.Context, n uint32) (uint64, error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0, ErrClosed
	}
	b := c.open
	if b == nil {
		b = &batch{done: make(chan struct{})}
		c.open = b
		c.ring <- struct{}{} // it is empty: run empties it before it takes the batch
	}
	place := b.n
	b.n += n
	c.mu.Unlock()
	select {
	case <-b.done:
	case <-ctx.Done():
		return 0, context.Cause(ctx) // its timestamp is never used
	}
	return b.first + uint64(place), b.err
}

// run sends one request after the other.
func (c *Client) run(ctx context.Context) {
	for {
		select {
		case <-c.ring:
		case <-ctx.Done():
			c.abandon()
			return
		}
		c.mu.Lock()
		b := c.open
		c.open = nil
		c.mu.Unlock()
		b.err = c.ask(ctx, func(bounded context.Context, p *peer) error {
			r, err := p.Timestamps(bounded, &oraclepb.TimestampsRequest{Count: b.n})
			if err != nil {
				return err
			}
			b.first = r.First
			return c.recognise(ctx, r.Token)
		})
		close(b.done)
	}
}

// recognise returns ErrOtherTable unless the table names the oracle with a token. It asks the
// table once for each oracle that begins to serve. An oracle that was replaced just now is not
// recognised either: the next one is asked. Earlier versions send no token.
func (c *Client) recognise(ctx context.Context, token string) error {
	if c.holder == nil || token == "" || token == c.known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	h, err := c.holder(ctx)
	if err != nil {
		return err
	}
	if h.Token != token {
		return ErrOtherTable
	}
	c.known = token
	return nil
}

// abandon ends the callers that wait when the client is closed.
func (c *Client) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open != nil {
		c.open.err = ErrClosed
		close(c.open.done)
		c.open = nil
	}
}

// ask puts a request to one oracle after the other, first the one that answered last,
// until one answers. A request that was not answered in time may have been carried out:
// timestamps are then lost, and locks expire.
func (c *Client) ask(ctx context.Context, request func(context.Context, *peer) error) error {
	began := time.Now()
	for {
		var failed []error
		for range c.peers {
			i := c.good.Load()
			p := c.peers[i]
			err := c.askOne(ctx, p, request)
			if err == nil {
				c.noteAnswer()
				return nil
			}
			failed = append(failed, fmt.Errorf("%s: %w", p.address, plainError{err}))
			if !elsewhere(err) {
				return fmt.Errorf("oracle: %w", errors.Join(failed...))
			}
			c.good.CompareAndSwap(i, (i+1)%int32(len(c.peers)))
		}
		silent := time.Since(began)
		switch {
		case c.isClosed():
			return ErrClosed
		case ctx.Err() != nil:
			return fmt.Errorf("oracle: %w", context.Cause(ctx))
		case silent > c.retryFor:
			return fmt.Errorf("%w: %w", txn.ErrNoTimestamps, noneAnswers(c.retryFor, failed))
		case min(silent, time.Since(*c.answered.Load())) > c.tell && c.waiting != nil && !c.told.Swap(true):
			c.waiting(noneAnswers(c.tell, failed))
		}
		_ = sleep.For(ctx, askAgain) // the next attempt returns why ctx has ended
	}
}

// noteAnswer notes that an oracle has answered now: a silence is counted from here.
func (c *Client) noteAnswer() {
	now := time.Now()
	c.answered.Store(&now)
	c.told.Store(false)
}

// noneAnswers is the error of a call that no oracle has answered for some time.
func noneAnswers(after time.Duration, failed []error) error {
	return fmt.Errorf("no oracle of this store (`indexer oracle`) has answered for %v: %w", after, errors.Join(failed...))
}

// plainError says in plain words why an oracle did not answer.
type plainError struct{ err error }

func (e plainError) Error() string { return unanswered.Why(e.err) }

func (e plainError) Unwrap() error { return e.err }

func (c *Client) askOne(ctx context.Context, p *peer, request func(context.Context, *peer) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return request(ctx, p)
}

// elsewhere reports whether another oracle, or the same one later, may answer.
func elsewhere(err error) bool {
	switch status.Code(err) {
	case codes.Unauthenticated, codes.InvalidArgument, codes.Unimplemented, codes.PermissionDenied:
		return false
	}
	return true
}

// TryLock implements txn.RowLocks.
func (c *Client) TryLock(ctx context.Context, rows []string) (got []bool, err error) {
	for part := range parts(rows) {
		err = c.ask(ctx, func(ctx context.Context, p *peer) error {
			r, err := p.Lock(ctx, &oraclepb.LockRequest{Token: c.token, Rows: bytesOf(part)})
			if err != nil {
				return err
			}
			if len(r.Got) != len(part) {
				return fmt.Errorf("%d answers for %d rows", len(r.Got), len(part))
			}
			got = append(got, r.Got...)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("lock rows: %w", err)
		}
	}
	return got, nil
}

// Unlock implements txn.RowLocks.
func (c *Client) Unlock(ctx context.Context, rows []string) error {
	for part := range parts(rows) {
		err := c.ask(ctx, func(ctx context.Context, p *peer) error {
			_, err := p.Unlock(ctx, &oraclepb.UnlockRequest{Token: c.token, Rows: bytesOf(part)})
			return err
		})
		if err != nil {
			return fmt.Errorf("unlock rows: %w", err)
		}
	}
	return nil
}

// parts divides rows into those of single requests. A row may have more than maxRequestBytes.
func parts(rows []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for len(rows) > 0 {
			n, size := 1, len(rows[0])
			for n < min(len(rows), maxRows) && size+len(rows[n]) <= maxRequestBytes {
				size += len(rows[n])
				n++
			}
			if !yield(rows[:n]) {
				return
			}
			rows = rows[n:]
		}
	}
}

func bytesOf(rows []string) [][]byte {
	b := make([][]byte, len(rows))
	for i, r := range rows {
		b[i] = []byte(r)
	}
	return b
}

// Status is what the oracle at an address says about itself.
type Status struct {
	Address string
	*oraclepb.StatusReply
	Err error
}

// Statuses asks all oracles how they are doing, and how old a timestamp is.
func (c *Client) Statuses(ctx context.Context, ageOf uint64) []Status {
	list := make([]Status, len(c.peers))
	var work sync.WaitGroup
	for i, p := range c.peers {
		work.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, answerWithin)
			defer cancel()
			r, err := p.Status(ctx, &oraclepb.StatusRequest{AgeOf: ageOf})
			if err != nil {
				err = plainError{err}
			}
			list[i] = Status{p.address, r, err}
		})
	}
	work.Wait()
	return list
}

// Coordination is what txn.Options takes: timestamps and locks from the oracles, and a
// liveness that must look for tokens where they do. It waits until one of them serves, to
// compare.
func (c *Client) Coordination(ctx context.Context, lives txn.Liveness, domain string) (*txn.Coordination, error) {
	if _, err := c.Last(ctx); err != nil {
		return nil, err
	}
	for _, s := range c.Statuses(ctx, 0) {
		if s.Err == nil && s.Liveness != domain {
			return nil, fmt.Errorf("oracle: the oracle at %s looks for liveness tokens in %s, and this process in %s: give all processes the same setting etcd", s.Address, s.Liveness, domain)
		}
	}
	return &txn.Coordination{Timestamps: c, Liveness: lives, RowLocks: c}, nil
}

// ParseAddresses splits a list of HOST:PORT.
func ParseAddresses(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
