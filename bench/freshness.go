package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/freshnessbench"
)

const freshnessHelp = `
Measure how long it takes from a fetch until the page can be found. An empty
repository is filled with generated pages up to the first of --sizes. Then --sample
more are loaded as fast as possible, which gives the saturation rate. Then fetches come
at 10, 50 and 90 percent of that rate (--loads), each for --seconds: half of them new
pages, half of them changed ones, at random moments. The same follows at the next size.

Times count from the moment at which a fetch was due. So they include the time for which
loading waits for the observers; the last column is the time until a fetch was
stored.`

func (a *app) freshnessCommand() *cobra.Command {
	var o freshnessbench.Options
	var seconds int
	cmd := &cobra.Command{
		Use:     "freshness",
		Short:   "How long it takes from a fetch until the page can be found, by load and size",
		Long:    strings.TrimSpace(freshnessHelp),
		Example: examples("freshness", "freshness --sizes 10000,100000,1000000 --seconds 60", "freshness --loads 50 --sizes 100000"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case len(o.Sizes) == 0 || !slices.IsSorted(o.Sizes) || o.Sizes[0] < 0:
				return usage(cmd, "--sizes takes ascending numbers of pages")
			case len(o.Loads) == 0 || slices.Min(o.Loads) < 1 || slices.Max(o.Loads) > 100:
				return usage(cmd, "--loads are from 1 to 100 percent")
			}
			err := inRange(cmd, bound{"seconds", seconds, 1, 1_000_000}, bound{"sample", o.Sample, 1, 1_000_000})
			if err != nil {
				return err
			}
			a.cfg.LimitMemory()
			o.Slice, o.Repo, o.Log = time.Duration(seconds)*time.Second, a.repositoryOptions(), a.stderr
			res, err := freshnessbench.Run(cmd.Context(), o)
			return a.print(err, res, res.Text)
		},
	}
	flags := cmd.Flags()
	flags.IntSliceVar(&o.Sizes, "sizes", []int{10_000}, "`numbers` of pages in the repository, ascending")
	flags.IntSliceVar(&o.Loads, "loads", []int{10, 50, 90}, "`percentages` of saturation")
	flags.IntVar(&seconds, "seconds", 30, "`seconds` for which each load lasts")
	flags.IntVar(&o.Sample, "sample", 2000, "`number` of pages by which saturation is measured")
	flags.Uint64Var(&o.Seed, "seed", 1, "`number` that decides about everything drawn")
	pipelineFlags(cmd)
	return cmd
}
