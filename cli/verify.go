package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/verify"
)

const verifyHelp = `
Recompute everything from the stored fetches in one batch, and compare the result with
the index that the observers keep up to date step by step: documents, clusters, links in
both directions, and the index files. It compares them at a moment when all work is
done. The batch shares no code with the observers except for reading pages. No
difference means that the index agrees exactly with the stored fetches.

Verify holds all documents in memory. If another process has the data directory open,
the command runs in that process.`

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "verify",
		Short:   "Recompute the index in one batch and compare",
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
	if rep.Total > 0 { // report it on standard error, too
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
		name := kind
		if kind == "sections" { // the name in JSON
			name = "member summaries"
		}
		t.row(name, fmt.Sprint(rep.Checked[kind])+" checked")
	}
	if rep.Total == 0 {
		t.row("differences", "none")
	}
	list(t, "differences", rep.Differences, verify.Difference.String)
	_, err := io.WriteString(w, t.String())
	return err
}
