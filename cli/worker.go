package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
)

const workerHelp = `
Run observers on a store that several processes share, until interrupted. Start as many
workers as you like, on any number of machines; they find their work in the store and
may come and go at any time. The other workers finish what a killed worker had begun.

Three tasks have one owner at a time: the ranks, the collection of garbage, and the index
files, which are in the data directory of the worker that keeps them. Every worker offers
to take them over when their owner ends. With --no-index a worker does not offer to keep
index files, for example because its machine has no disk for them.

The store and the addresses of the oracles are settings: see docs/deployment.md.`

func (a *app) workerCommand() *cobra.Command {
	var noIndex bool
	cmd := &cobra.Command{
		Use:     "worker",
		Short:   "Run observers on a store that many processes share",
		Long:    long(workerHelp, statusDone, statusFailed, statusUsage, statusNoSpace),
		Example: examples("indexer worker --store postgres://indexer@db/web --oracle o1:7071,o2:7071 --data /srv/index"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !a.isShared() || a.cfg.Oracle == "" {
				return &usageError{reason: "a worker needs a store that processes share, and an oracle: give --store URL and --oracle HOST:PORT (on one machine, crawl, replay and serve run the observers themselves)", help: "indexer worker"}
			}
			a.works, a.leases = true, []string{observers.LeaseRank, repository.LeaseGarbage}
			if !noIndex {
				a.leases = append(a.leases, observers.LeaseIndex)
			}
			return a.work(cmd.Context())
		},
	}
	a.pipelineFlags(cmd)
	cmd.Flags().BoolVar(&noIndex, "no-index", false, "do not offer to keep the index files")
	return cmd
}

// failureEvery is how often a worker checks whether its observers have stopped by
// themselves.
const failureEvery = 200 * time.Millisecond

// work runs observers until ctx ends, or until they stop by themselves: the worker then
// ends, and whoever supervises it starts it again.
func (a *app) work(ctx context.Context) error {
	s, err := a.open(ctx, false)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(a.stderr, "working; interrupt to stop")
	ticker := time.NewTicker(failureEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
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
