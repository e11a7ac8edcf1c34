package scalebench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// closers are called in reverse.
type closers []func() error

func (c closers) close() error {
	var errs []error
	for _, closer := range slices.Backward(c) {
		errs = append(errs, closer())
	}
	return errors.Join(errs...)
}

// leaveWithin bounds what a process does to tell others that it is gone.
const leaveWithin = 5 * time.Second

func within(fn func(context.Context) error) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), leaveWithin)
		defer cancel()
		return fn(ctx)
	}
}

// serveOracle starts the oracle of a table, and returns its address.
func serveOracle(ctx context.Context, table store.Table) (address string, _ closers, err error) {
	var c closers
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	address = l.Addr().String()
	o, err := oracle.Start(ctx, table, oracle.Options{
		Address: address,
		Join:    func(ctx context.Context) (oracle.Member, error) { return oracle.Join(ctx, table) },
		Changed: func(bool, uint64, error) {},
		Failed:  func(error) {}, // it tries again, and the clients wait
	})
	if err != nil {
		return "", nil, errors.Join(err, l.Close())
	}
	c = append(c, within(o.Stop))
	server, err := remote.Serve(l, o, remote.Security{})
	if err != nil {
		return "", c, errors.Join(err, l.Close())
	}
	return address, append(c, func() error { server.Stop(); return nil }), nil
}

// join makes a member of the deployment, as each process is one.
func join(ctx context.Context, table store.Table, address string) (_ *txn.Coordination, _ closers, err error) {
	var c closers
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	member, err := oracle.Join(ctx, table)
	if err != nil {
		return nil, nil, err
	}
	c = append(c, within(member.Leave))
	client, err := remote.Connect([]string{address}, member.Token(), remote.Options{Holder: oracle.HolderIn(table)})
	if err != nil {
		return nil, c, err
	}
	c = append(c, client.Close)
	together, err := client.Coordination(ctx, member, member.Domain())
	if err != nil {
		return nil, c, fmt.Errorf("ask the oracle: %w", err)
	}
	return together, c, nil
}
