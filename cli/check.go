package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/internal/progress"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
)

const checkHelp = `
Check the consistency of the store and of the index files. In the store: keys, the order
of records, the values that records point to, locks and their primaries, notifications
and their observers. In the index files: checksums of all pages and rows, texts,
full-text entries, and whether documents and ranks match the store. Each problem is
reported with its place.

Opening a data directory repairs index files that are missing or lack writes. Check says
what was repaired, and checks the result.

Check reads everything once and recomputes no document; ` + "`indexer verify`" + ` tells
whether the index agrees with the stored fetches. Check can run while other commands run.
In a data directory, it sees one snapshot.

If another process has the data directory open, the command runs in that process.`

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "check",
		Short:   "Check the consistency of the store and of the index files",
		Long:    long(checkHelp, statusDone, statusFailed, statusUsage, statusInUse, statusDifferences),
		Example: examples("indexer check", "indexer check --format json | jq .problems"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.ask(cmd.Context(), a.request("check"), a.stdout)
		},
	}
}

// errProblems says that check found problems in the store, errIndexProblems in the index
// files.
var (
	errProblems      = errors.New("the store is inconsistent")
	errIndexProblems = errors.New("the index is damaged")
)

func checkStore(ctx context.Context, r *repository.Repository, req control.Request, stdout, stderr io.Writer) error {
	rep, err := progress.Report(ctx, stderr, func(tell progress.Tell) (*repository.CheckReport, error) { return r.Check(ctx, tell) })
	if err != nil {
		return err
	}
	err = printResult(stdout, req.Format, rep, checkText(rep))
	if rep.Total > 0 {
		err = errors.Join(fmt.Errorf("%s: %w", count(rep.Total, "problem"), errProblems), err)
	}
	if n := len(rep.Index.Problems); n > 0 {
		err = errors.Join(fmt.Errorf("%s: %w", count(n, "problem"), errIndexProblems), err)
	}
	return err
}

func checkText(rep *repository.CheckReport) string {
	t := new(table)
	for _, c := range []struct {
		name string
		n    int
	}{
		{"rows", rep.Checked.Rows}, {"cells", rep.Checked.Cells}, {"records", rep.Checked.Records}, {"locks", rep.Checked.Locks},
		{"notifications", rep.Checked.Notes}, {"acknowledged", rep.Checked.Acks}, {"read locks", rep.Checked.Reads},
	} {
		t.row(c.name, fmt.Sprint(c.n)+" checked")
	}
	t.row("documents", fmt.Sprint(rep.Index.Documents)+" in the index checked")
	if rep.Index.Repaired != "" {
		t.row("repaired", repairedText(rep.Index.Repaired))
	}
	if rep.Total+len(rep.Index.Problems) == 0 {
		t.row("problems", "none")
	}
	list(t, "problems", rep.Problems, txn.Problem.String)
	list(t, "index", rep.Index.Problems, plain)
	return t.String()
}

// repairedText says what opening the data directory has repaired.
func repairedText(what string) string { return "the index, when it was opened: " + what }
