package etcd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Client is the connection of a process to an etcd cluster.
type Client struct {
	*clientv3.Client
	conf *tls.Config
}

// connectAgain is the longest pause between two attempts to connect. When etcd is back, it gives
// leases their time to live once more. They must be renewed within that time: with the default
// of gRPC, up to two minutes, all would be lost.
const connectAgain = 500 * time.Millisecond

// Dial prepares connections to the members of an etcd cluster. conf is nil without TLS.
func Dial(endpoints []string, conf *tls.Config) (*Client, error) {
	c, err := clientv3.New(clientv3.Config{
		Endpoints: endpoints, TLS: conf, DialTimeout: requestTimeout, Logger: zap.NewNop(),
		DialKeepAliveTime: time.Second, DialKeepAliveTimeout: time.Second,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: connectAgain},
			MinConnectTimeout: requestTimeout / 2,
		})},
	})
	if err != nil {
		return nil, fmt.Errorf("etcd: connect to %v: %w", endpoints, err)
	}
	return &Client{c, conf}, nil
}

// repeat makes a request again if it has no answer: a member of the cluster that is stopped gives
// none, and another one does.
func repeat(ctx context.Context, request func(context.Context) error) error {
	for {
		one, cancel := context.WithTimeout(ctx, requestTimeout/2)
		err := request(one)
		silent := one.Err() != nil
		cancel()
		if err == nil || !silent || ctx.Err() != nil {
			return err
		}
	}
}

// ErrSilent means that no member of the cluster has answered.
var ErrSilent = errors.New("no etcd server answers; start one, or correct the settings etcd and tls")

// explain finds out, with connections of its own, why no member of the cluster answered a
// request: the client only knows that the time was up.
func (c *Client) explain(ctx context.Context, err error) error {
	if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	errs := []error{ErrSilent}
	for _, endpoint := range c.Endpoints() {
		if err := c.tryConnect(ctx, endpoint); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", endpoint, err))
		}
	}
	return errors.Join(errs...)
}

func (c *Client) tryConnect(ctx context.Context, endpoint string) error {
	_, address, _ := strings.Cut(endpoint, "://")
	dial := new(net.Dialer).DialContext
	if c.conf != nil {
		dial = (&tls.Dialer{Config: c.conf}).DialContext
	}
	conn, err := dial(ctx, "tcp", cmp.Or(address, endpoint))
	if err != nil {
		return err
	}
	return conn.Close()
}
