package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"indexer/control"
	"indexer/repository"
	"indexer/verify"
)

const verifyHelp = `
Recompute everything in one batch from the stored fetches, as of a moment at which
nothing was left to do, and compare it with what the observers left step by step:
documents, clusters, links in both directions, the index. The batch shares no code
with the observers but that which reads a page. No difference means that the index
is what the fetches mean.

It holds all documents in memory. While another process has the data directory,
that process is asked.`

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "verify",
		Short:   "Recompute everything in one batch and compare",
		Long:    long(verifyHelp, statusDone, statusFailed, statusUsage, statusInUse, statusDifferences),
		Example: examples("indexer verify", "indexer verify --format json | jq .differences"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.ask(cmd.Context(), a.request("verify"), a.stdout)
		},
	}
}

func verifyRepository(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	rep, err := verify.Run(ctx, r)
	if err != nil {
		return err
	}
	err = printReport(stdout, rep, req.Format)
	if rep.Total > 0 { // says so also to whoever does not read the report
		err = errors.Join(fmt.Errorf("%s: %w", count(rep.Total, "difference"), errDifferences), err)
	}
	return err
}

func printReport(w io.Writer, rep *verify.Report, format string) error {
	if format == "json" {
		return printJSON(w, rep)
	}
	t := new(table)
	t.row("snapshot", fmt.Sprint(rep.SnapshotTS))
	for _, kind := range slices.Sorted(maps.Keys(rep.Checked)) {
		t.row(kind, fmt.Sprint(rep.Checked[kind])+" checked")
	}
	if rep.Total == 0 {
		t.row("differences", "none")
	}
	list(t, "differences", rep.Differences, verify.Difference.String)
	_, err := io.WriteString(w, t.String())
	return err
}
