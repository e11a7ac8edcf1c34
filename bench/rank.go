package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/rankbench"
)

const rankHelp = `
Measure what changes of links cost the ranks, on generated webs of several sizes
(sites of 100 URLs; a quarter of the links goes to all sites, in-degrees follow a
power law), each in a separate store, with links and ranks written as they are
after long use; no page is interpreted and nothing is indexed:

  - rows touched when a random page changes one or all of its links;
  - pages touched when a share of all pages changes all links, compared with a
    full solve by power iteration to the same tolerance;
  - error by amount of work, compared with power iteration from nothing and from
    the ranks before the change.

At the end the ranks are compared with a full solve; the benchmark fails if one is not
within the tolerance. The default takes a minute. --urls 1000000 --changes 20
--percent 0.1,1 takes some twenty minutes, and 2 GiB of disk and memory.`

func (a *app) rankCommand() *cobra.Command {
	var o rankbench.Options
	cmd := &cobra.Command{
		Use:     "rank",
		Short:   "What it costs to update the ranks when links change, compared with full solves",
		Long:    strings.TrimSpace(rankHelp),
		Example: examples("rank", "rank --urls 10000,100000,1000000 --changes 20 --percent 0.1,1 --dead-ends 0.5", "rank --urls 10000 --tolerance 0.001 --format json"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if reason := rankOptions(&o); reason != "" {
				return usage(cmd, "%s", reason)
			}
			o.Log = a.stderr
			res, err := rankbench.Run(cmd.Context(), o)
			return a.print(err, res, res.Text)
		},
	}
	f := cmd.Flags()
	f.IntSliceVar(&o.Sizes, "urls", []int{10_000}, "sizes of the webs")
	f.IntVar(&o.Degree, "links", 10, "links of a page")
	f.Float64Var(&o.DeadEnds, "dead-ends", 0, "share of the URLs that were never fetched and have no links, 0 to 0.95")
	f.IntVar(&o.Changes, "changes", 200, "changes of single pages, of each kind")
	f.Float64SliceVar(&o.Percents, "percent", []float64{0.1, 1, 5, 20, 50}, "shares of the pages that change, in percent")
	f.Float64Var(&o.Tolerance, "tolerance", 0, "relative error that ranks keep to; 0 for the default")
	f.Uint64Var(&o.Seed, "seed", 1, "of the webs and of what changes")
	return cmd
}

// rankOptions says what is wrong with them, "" if nothing is.
func rankOptions(o *rankbench.Options) string {
	for _, n := range o.Sizes {
		if n < 1000 || n > 10_000_000 {
			return "--urls are from 1000 to 10000000"
		}
	}
	for _, p := range o.Percents {
		if !(p > 0 && p <= 100) {
			return "--percent is above 0 and up to 100"
		}
	}
	switch {
	case o.Degree < 2 || o.Degree > 50:
		return "--links is from 2 to 50"
	case !(o.DeadEnds >= 0 && o.DeadEnds <= 0.95):
		return "--dead-ends is from 0 to 0.95"
	case o.Changes < 1 || o.Changes > 100_000:
		return "--changes is from 1 to 100000"
	case !(o.Tolerance >= 0 && o.Tolerance <= 0.01):
		return "--tolerance is from 0 to 0.01"
	}
	return ""
}
