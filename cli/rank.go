package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"indexer/control"
	"indexer/repository"
)

const rankHelp = `
Say how well the ranks are known. Observers keep them up to date link by link: each
URL passes on what its rank has changed by, unless that is below a bound, its
residual. The sum of the residuals is what is not yet passed on.

With --full all ranks are computed from nothing as well, by power iteration over the
whole link graph in memory (some 70 bytes a URL and 8 an edge), as of one snapshot,
and compared; where rounding has added up over years, it is corrected. The
observers go on meanwhile: what they still have to do shows as an error.

While another process has the data directory, that process is asked.`

func (a *app) rankCommand() *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:     "rank",
		Short:   "How well the ranks are known; all ranks from nothing",
		Long:    long(rankHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples("indexer rank", "indexer rank --full --format json"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if full {
				return a.ask(cmd.Context(), a.request("rank", "full"), a.stdout)
			}
			return a.ask(cmd.Context(), a.request("rank"), a.stdout)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "compute all ranks from nothing and compare")
	return cmd
}

func ranks(ctx context.Context, r *repository.Repository, req control.Request, stdout, _ io.Writer) error {
	if len(req.Args) == 1 && req.Args[0] == "full" {
		return fullSolve(ctx, r, req, stdout)
	}
	s, err := r.Ranks(ctx)
	if err != nil {
		return err
	}
	if req.Format == "json" {
		return printJSON(stdout, s)
	}
	t := new(table)
	rankRows(t, s)
	_, err = io.WriteString(stdout, t.String())
	return err
}

func fullSolve(ctx context.Context, r *repository.Repository, req control.Request, stdout io.Writer) error {
	s, err := r.SolveRanks(ctx)
	if err != nil {
		return err
	}
	if req.Format == "json" {
		return printJSON(stdout, s)
	}
	t := new(table)
	rankRows(t, &s.RankStats)
	t.row("full solve", fmt.Sprintf("%s in %.2f s, after %.2f s of reading; the graph takes %.1f MiB",
		count(s.Iterations, "iteration"), s.SolveSeconds, s.ReadSeconds, float64(s.GraphBytes)/(1<<20)))
	t.row("greatest error", fmt.Sprintf("%.6f of a rank", s.GreatestError))
	t.row("sum of errors", fmt.Sprintf("%.6f", s.L1Error))
	t.row("corrected", count(s.Corrected, "sum"))
	_, err = io.WriteString(stdout, t.String())
	return err
}

func rankRows(t *table, s *repository.RankStats) {
	t.row("urls", fmt.Sprintf("%d with links to or from them", s.URLs))
	t.row("edges", fmt.Sprint(s.Edges))
	t.row("tolerance", fmt.Sprintf("%g of a rank", s.Tolerance))
	t.row("residual", fmt.Sprintf("%.6f in all, at rest at most %.6f; the greatest is %.6f", s.ResidualSum, s.ResidualBound, s.ResidualGreatest))
}

// rankText is a line about the ranks, for stats.
func rankText(s *repository.RankStats) string {
	return fmt.Sprintf("within %g of themselves; residual %.4f of at most %.4f", s.Tolerance, s.ResidualSum, s.ResidualBound)
}
