package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/relevancebench"
)

const relevanceHelp = `
Ask for known items: titles that only one document has, halves of Chinese, Japanese
and Korean ones, and anchors that lead to one document only, one of their links being
taken out of the index first. Reported is how often the document is the first hit, how
often one of the first five, and the mean reciprocal rank: with everything, and with
one part of the ranking left out after the other.

Without files, the index of the data directory is copied and asked; with files, these
are replayed into a temporary directory. --seed takes other queries.`

func (a *app) relevanceCommand() *cobra.Command {
	var o relevancebench.Options
	var missed bool
	cmd := &cobra.Command{
		Use:     "relevance [FILE.warc[.gz]…]",
		Short:   "How often the right page is found, and what each signal adds",
		Long:    strings.TrimSpace(relevanceHelp),
		Example: examples("relevance", "relevance crawl.warc.gz", "relevance --missed --seed 7 crawl.warc.gz"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := inRange(cmd, "queries", o.Queries, 1, 100_000); err != nil {
				return err
			}
			if err := checkFiles(cmd, args); err != nil {
				return err
			}
			if o.Index, err = a.index(cmd, len(args) == 0); err != nil {
				return err
			}
			o.Files, o.Weights, o.PerHost = args, a.weights(), a.cfg.Query.PerHost
			o.Repo, o.Log = a.repositoryOptions(), a.stderr
			res, err := relevancebench.Run(cmd.Context(), o)
			return a.print(err, res, func() string { return res.Text(missed) })
		},
	}
	cmd.Flags().IntVar(&o.Queries, "queries", 500, "`number` of queries of each kind, at most")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "`number` that decides which queries are asked")
	cmd.Flags().BoolVar(&missed, "missed", false, "list queries whose page was not first")
	pipelineFlags(cmd)
	return cmd
}
