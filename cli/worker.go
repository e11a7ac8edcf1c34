package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/oracle/remote"
	"github.com/webindexer/indexer/repository"
)

const workerHelp = `
Run observers on a store that several processes share, until interrupted. Start as many
workers as you like, on any number of machines; they find their work in the store and
may come and go at any time. If a worker is killed, the others finish its work.

Three tasks have one owner at a time: the ranks, the collection of garbage, and the index
files, which are in the data directory of the worker that keeps them. Any worker
takes them over when their owner ends. With --no-index, a worker never takes over the index
files, for example because its machine has no disk for them.

With index_shards above 1, the index files are divided among the workers. With --serve, a
worker answers searches of its shards from other machines: indexer query and indexer serve
find the workers in the store and merge their answers.

The store and the addresses of the oracles are settings: see docs/deployment.md.`

func (a *app) workerCommand() *cobra.Command {
	var noIndex bool
	var serve string
	cmd := &cobra.Command{
		Use:     "worker",
		Short:   "Run observers on a store that many processes share",
		Long:    long(workerHelp, statusDone, statusFailed, statusUsage),
		Example: examples("indexer worker --store postgres://indexer@db/web --oracle o1:7071,o2:7071 --data /srv/index"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.isShared() || a.cfg.Oracle == "" {
				return &usageError{reason: "a worker needs a store that processes share, and an oracle: give --store URL and --oracle HOST:PORT (on one machine, crawl, replay and serve run the observers themselves)", help: "indexer worker"}
			}
			a.share.Works, a.share.Leases = true, []string{observers.LeaseRank, repository.LeaseGarbage}
			if !noIndex {
				a.share.Leases = append(a.share.Leases, observers.LeaseIndex)
			}
			if serve != "" {
				return a.workAndAnswer(cmd.Context(), serve)
			}
			return a.work(cmd.Context())
		},
	}
	a.pipelineFlags(cmd)
	cmd.Flags().BoolVar(&noIndex, "no-index", false, "do not offer to keep the index files")
	a.indexShardsFlag(cmd)
	cmd.Flags().StringVar(&serve, "serve", "", "answer searches of the shards kept here, at `HOST:PORT`")
	cmd.Flags().BoolVar(&a.share.Reshard, "reshard", false, "divide the index files again, into --index-shards; no other worker may keep index files")
	return cmd
}

// failureEvery is how often a worker checks whether its observers have stopped by
// themselves.
const failureEvery = 200 * time.Millisecond

// work runs observers until ctx ends, or until they fail: the worker then ends, and its
// supervisor starts it again.
func (a *app) work(ctx context.Context) error {
	s, err := a.open(ctx, false)
	if err != nil {
		return err
	}
	return a.workOn(ctx, s)
}

// workAndAnswer is work, and meanwhile answers searches of the shards kept here at an address.
func (a *app) workAndAnswer(ctx context.Context, address string) (err error) {
	security, err := a.security()
	if err != nil {
		return err
	}
	l, err := listenForSearches(ctx, address, security)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeListener(l)) }()
	if a.share.Search, err = reachable(l.Addr(), address); err != nil {
		return err
	}
	s, err := a.open(ctx, false)
	if err != nil {
		return err
	}
	server, err := a.serveShards(l, s.repo, security)
	if err != nil {
		return errors.Join(err, s.close(ctx))
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	_, _ = fmt.Fprintf(a.stderr, "answering searches at %s\n", a.share.Search)
	return a.workOn(ctx, s)
}

// listenForSearches opens the address at which a worker answers searches of its shards.
func listenForSearches(ctx context.Context, address string, security remote.Security) (net.Listener, error) {
	if err := security.Check(address); err != nil {
		return nil, &usageError{reason: "--serve: " + err.Error(), help: "indexer worker"}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for searches: %w", err)
	}
	return l, nil
}

// workOn is work with an open session, which it closes.
func (a *app) workOn(ctx context.Context, s *session) error {
	_, _ = fmt.Fprintln(a.stderr, "working; interrupt to stop")
	ticker := time.NewTicker(failureEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			_, _ = fmt.Fprintln(a.stderr, "stopping: what is in progress is completed; interrupt again to stop at once")
			return s.close(ctx)
		case <-ticker.C:
		}
		if err := s.repo.Failure(); err != nil {
			closed := s.close(ctx)
			if errors.Is(closed, err) {
				return closed
			}
			return errors.Join(err, closed)
		}
	}
}
