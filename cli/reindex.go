package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/repository"
)

const reindexHelp = `
Rebuild the index files from the store. Use it if they are missing, damaged, or behind
the store. Nothing is fetched again, and nothing else changes.

The new files are written next to the old ones, which answer queries until the new ones
replace them, so the disk needs room for both. Loading and crawling continue. If the
rebuild is interrupted or killed, the old files stay in place; run it again.

If indexer did not write a file that is there, or if the file belongs to another store, the
command renames it and does not delete it.

If another process has the data directory open, the command runs in that process. On a store
that several processes share, the worker that keeps the index files rebuilds them,
and the command may run on any machine; if that worker dies, the next one starts over. If
no worker keeps index files, the command makes them in its own data directory.`

func (a *app) reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "reindex",
		Short:   "Rebuild the index files from the store",
		Long:    long(reindexHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer reindex", "indexer reindex --format json | jq .documents"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := progress.Report(cmd.Context(), a.stderr, func(tell progress.Tell) (any, error) {
				a.reindexes = tellClusters(tell) // in a directory that is free, opening it rebuilds the files
				return nil, a.ask(cmd.Context(), a.request("reindex"), a.stdout)
			})
			return err
		},
	}
}

func reindex(ctx context.Context, r *repository.Repository, req control.Request, stdout, stderr io.Writer) error {
	res, err := progress.Report(ctx, stderr, func(tell progress.Tell) (repository.Reindexed, error) {
		return r.Reindex(ctx, tellClusters(tell))
	})
	if errors.Is(err, repository.ErrReindexing) {
		return err
	}
	if err != nil {
		return fmt.Errorf("rebuild the index: %w", err)
	}
	text := fmt.Sprintf("The index was rebuilt with %s in %s.\n", count(res.Documents, "document"), progress.Duration(fromSeconds(res.Seconds)))
	if res.Aside != "" {
		text += fmt.Sprintf("The files that were there before are now in %s.\n", plain(res.Aside))
	}
	return printResult(stdout, req.Format, res, text)
}

func tellClusters(tell progress.Tell) func(int) {
	return func(n int) { tell("%s exported so far", count(n, "cluster")) }
}

func fromSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
