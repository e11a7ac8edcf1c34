package cli

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/webindexer/indexer/oracle"
	"github.com/webindexer/indexer/oracle/remote"
)

const oracleHelp = `
Serve timestamps and advisory locks to the processes that share a store, until
interrupted. Start two or more, on different machines: one serves, the others stand by and
take over within seconds after it has died. Timestamps never repeat and never go back. See
docs/oracle.md.`

func (a *app) oracleCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:     "oracle",
		Short:   "Serve timestamps to the processes that share a store",
		Long:    long(oracleHelp, statusDone, statusFailed, statusUsage),
		Example: examples("indexer oracle --store postgres://indexer@db/web --listen 127.0.0.1:7071"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.isShared() {
				return &usageError{reason: "an oracle serves the processes that share a store: give --store URL (on one machine, the process that has the data directory hands out timestamps)", help: "indexer oracle"}
			}
			return a.serveOracle(cmd.Context(), address)
		},
	}
	cmd.Flags().StringVar(&address, "listen", "127.0.0.1:7071", "`HOST:PORT` to listen on")
	return cmd
}

func (a *app) serveOracle(ctx context.Context, address string) (err error) {
	security, err := a.security()
	if err != nil {
		return err
	}
	if err := security.Check(address); err != nil {
		return &usageError{reason: err.Error(), help: "indexer oracle"}
	}
	table, err := a.openTable(ctx)
	if err != nil {
		return err
	}
	d := &deployment{table: table, closers: []func() error{table.Close}}
	defer func() { err = errors.Join(err, d.leave()) }()
	client, err := a.dialEtcd(d)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for processes that need timestamps: %w", err)
	}
	o, err := oracle.Start(ctx, table, a.oracleOptions(ctx, l.Addr().String(), func(ctx context.Context) (oracle.Member, error) {
		return newMember(ctx, client, table)
	}))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	d.closers = append(d.closers, inTime(o.Stop))
	server, err := remote.Serve(l, o, security)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	d.closers = append(d.closers, func() error { server.Stop(); return nil })
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Done():
		return err
	}
}

// oracleOptions are those of an oracle at an address. It reports what happens to it until ctx ends.
func (a *app) oracleOptions(ctx context.Context, address string, join func(context.Context) (oracle.Member, error)) oracle.Options {
	return oracle.Options{
		Address: address,
		Join: func(ctx context.Context) (oracle.Member, error) {
			member, err := join(ctx)
			if err != nil {
				return nil, err
			}
			a.tell(ctx, member, oracle.Description{Role: a.command, Place: address})
			return member, nil
		},
		Changed: func(serving bool, term uint64, why error) {
			switch {
			case serving:
				_, _ = fmt.Fprintf(a.stderr, "serving timestamps at %s, term %d\n", address, term)
			case ctx.Err() != nil: // it was told to stop
				_, _ = fmt.Fprintf(a.stderr, "no longer serving timestamps, term %d\n", term)
			default:
				a.log.Warn("no longer serving timestamps", zap.Uint64("term", term), zap.Error(why))
			}
		},
		Failed: func(err error) { a.log.Warn("will try again to become the oracle", zap.Error(err)) },
	}
}
