package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/internal/control"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/counts"
)

const rankHelp = `
Show how accurate the ranks are. Observers update them link by link: when the rank of a URL
changes, the URL passes the change on along its links, unless the change is below a
bound. The part that was not passed on yet is the residual of the URL.

--full also computes all ranks from scratch, by power iteration in memory over the whole
link graph of one snapshot (about 70 bytes per URL and 7 per edge), and compares. It
corrects rounding errors that have accumulated over time. Observers keep running
meanwhile; their pending work appears as an error.

If another process has the data directory open, the command runs in that process. On a store
that several processes share, --full runs in the worker that keeps the ranks, or in this
process if none does.`

func (a *app) rankCommand() *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:     "rank",
		Short:   "Show how accurate the ranks are, or recompute all of them",
		Long:    long(rankHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer rank", "indexer rank --full --format json"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			req := a.request("rank")
			if full {
				req.Args = []string{"full"}
			}
			return a.ask(cmd.Context(), req, a.stdout)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "compute all ranks from scratch, compare and correct")
	return cmd
}

func ranks(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	if onlyArgument(req) == "full" {
		return fullSolve(ctx, r, req, stdout)
	}
	s, err := r.Ranks(ctx)
	if err != nil {
		return err
	}
	return printResult(stdout, req.Format, s, rankTable(s).String())
}

func fullSolve(ctx context.Context, r *repository.Repository, req control.Request, stdout io.Writer) error {
	s, err := r.SolveRanks(ctx)
	if err != nil {
		return err
	}
	t := rankTable(&s.Ranks)
	t.row("full solve", fmt.Sprintf("%s in %.2f s, after %.2f s of reading; the graph takes %.1f MiB",
		count(s.Iterations, "iteration"), s.SolveSeconds, s.ReadSeconds, float64(s.GraphBytes)/(1<<20)))
	t.row("greatest error", fmt.Sprintf("%.6f of a rank", s.GreatestError))
	t.row("sum of errors", fmt.Sprintf("%.6f", s.L1Error))
	t.row("corrected", count(s.Corrected, "sum"))
	return printResult(stdout, req.Format, s, t.String())
}

func rankTable(s *counts.Ranks) *table {
	t := new(table)
	t.row("urls", fmt.Sprintf("%d with links to or from them", s.URLs))
	t.row("edges", fmt.Sprint(s.Edges))
	t.row("tolerance", fmt.Sprintf("%g of a rank", s.Tolerance))
	t.row("residual", fmt.Sprintf("%.6f in total, at most %.6f when idle; the greatest is %.6f", s.ResidualSum, s.ResidualBound, s.ResidualGreatest))
	return t
}

// rankText formats the line about ranks in stats.
func rankText(s *counts.Ranks) string {
	return fmt.Sprintf("relative error at most %g; residual %.4f of at most %.4f", s.Tolerance, s.ResidualSum, s.ResidualBound)
}
