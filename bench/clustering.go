package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/clusterbench"
)

const clusteringHelp = `
Repeat Figure 7 of the Percolator paper: the time from the crawl of a document until it
is clustered, by an observer, and by a batch job that clusters the whole repository
again and again. Documents have three clustering keys, drawn from 0.75 × as many keys as
there are documents. The batch job sorts and merges files of keys, and never reads
anything else.

Crawl rates are percentages of the repository in an hour. So that the figure can be
compared with the paper's, an hour is the time of three batch runs, as it was there;
--hour 1h measures with real hours.`

func (a *app) clusteringCommand() *cobra.Command {
	var o clusterbench.Options
	var seconds int
	var svg string
	cmd := &cobra.Command{
		Use:     "clustering",
		Short:   "Delay until a document is clustered, by an observer and by a batch job",
		Long:    strings.TrimSpace(clusteringHelp),
		Example: examples("clustering", "clustering --documents 1000000 --svg figure7.svg", "clustering --hour 1h"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := inRange(cmd, bound{"documents", o.Documents, 100, 100_000_000}, bound{"seconds", seconds, 1, 3600}); err != nil {
				return err
			}
			if len(o.Percents) == 0 || !slices.IsSorted(o.Percents) || !(o.Percents[0] > 0 && o.Percents[len(o.Percents)-1] <= 1000) {
				return usage(cmd, "--percent takes ascending numbers above 0, up to 1000")
			}
			if o.Hour < 0 {
				return usage(cmd, "--hour is a positive duration")
			}
			o.Slice, o.Workers, o.Commit, o.Log = time.Duration(seconds)*time.Second, a.cfg.Workers, commitModes[a.cfg.Commit], a.stderr
			res, err := clusterbench.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.printWithPlot(res, svg)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Documents, "documents", 100_000, "`number` of documents in the repository")
	flags.Float64SliceVar(&o.Percents, "percent", []float64{1, 2, 5, 10, 20, 40, 60, 80, 100}, "`percentages` of the repository crawled in an hour, ascending")
	flags.DurationVar(&o.Hour, "hour", 0, "what counts as an hour; 0 is three batch runs")
	flags.IntVar(&seconds, "seconds", 10, "`seconds` for which the observer gets each crawl rate")
	flags.StringVar(&svg, "svg", "", "`file` for a plot")
	flags.Uint64Var(&o.Seed, "seed", 1, "`number` that decides about all keys")
	flags.String("workers", "4", "`number` of observers that run at a time")
	flags.String("commit", "auto", "commit `path`: auto, one-phase or two-phase")
	return cmd
}
