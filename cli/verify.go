package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/verify"
)

const verifyHelp = `
Recompute everything from the stored fetches in one batch, and compare the result with
the index that the observers keep up to date step by step: documents, clusters, links in
both directions, and the index files. It compares them at a moment when all work is
done. The batch shares no code with the observers except for reading pages. No
difference means that the index agrees exactly with the stored fetches.

Opening a data directory repairs index files that are missing or lack writes. Verify says
what was repaired, and compares the result.

Verify holds the links of all pages in memory, but not their texts. With --parts, it works on
several parts at a time; the result is the same. If another process has the data directory
open, the command runs in that process.`

func (a *app) verifyCommand() *cobra.Command {
	var parts int
	cmd := &cobra.Command{
		Use:     "verify",
		Short:   "Recompute the index in one batch and compare",
		Long:    long(verifyHelp, statusDone, statusFailed, statusUsage, statusInUse, statusDifferences),
		Example: examples("indexer verify", "indexer verify --parts 4", "indexer verify --format json | jq .differences"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if parts < 1 || parts > maxParts {
				return &usageError{reason: fmt.Sprintf("--parts must be from 1 to %d", maxParts), help: "indexer verify"}
			}
			return a.ask(cmd.Context(), a.request("verify", strconv.Itoa(parts)), a.stdout)
		},
	}
	cmd.Flags().IntVar(&parts, "parts", 1, "`number` of parts to work on at the same time")
	return cmd
}

// maxParts bounds --parts. A part keeps a processor busy, or a connection to the store.
const maxParts = 256

// partsOf reads the argument of a request; one part if another version of the program sent it.
func partsOf(req control.Request) int {
	n, err := strconv.Atoi(onlyArgument(req))
	if err != nil {
		return 1
	}
	return min(max(n, 1), maxParts)
}

func verifyRepository(ctx context.Context, r *repository.Repository, req control.Request, stdout, stderr io.Writer) error {
	rep, err := progress.Report(ctx, stderr, func(tell progress.Tell) (*verify.Report, error) {
		return verify.RunParts(ctx, r, partsOf(req), tell)
	})
	if err != nil {
		return err
	}
	err = printResult(stdout, req.Format, rep, reportText(rep))
	if rep.Total > 0 { // report it on standard error, too
		err = errors.Join(fmt.Errorf("%s: %w", count(rep.Total, "difference"), errDifferences), err)
	}
	return err
}

func reportText(rep *verify.Report) string {
	t := new(table)
	t.row("snapshot", fmt.Sprint(rep.SnapshotTS))
	for _, kind := range slices.Sorted(maps.Keys(rep.Checked)) {
		t.row(kind, fmt.Sprint(rep.Checked[kind])+" checked")
	}
	if rep.Repaired != "" {
		t.row("repaired", repairedText(rep.Repaired))
	}
	if rep.Total == 0 {
		t.row("differences", "none")
	}
	list(t, "differences", rep.Differences, verify.Difference.String)
	return t.String()
}
