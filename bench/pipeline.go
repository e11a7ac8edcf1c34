package main

import (
	"strings"

	"github.com/spf13/cobra"

	"indexer/bench/pipelinebench"
)

const pipelineHelp = `
Replay WARC files into an empty directory, and compare the pages per second with a
floor: one pass that only reads the same files, interprets each page and puts its
text into the same index, without a repository. The ratio is what it costs to keep
the index incremental.

The files are also replayed without ranks; that ratio is what keeping ranks costs, in
time and in processor time, which other work on the machine disturbs less. All three
run in turn, --rounds times; medians count.`

func (a *app) pipelineCommand() *cobra.Command {
	var o pipelinebench.Options
	cmd := &cobra.Command{
		Use:     "pipeline FILE.warc[.gz]…",
		Short:   "Pages per second of a replay, beside one pass that only indexes, and without ranks",
		Long:    strings.TrimSpace(pipelineHelp),
		Example: examples("pipeline crawl.warc.gz", "pipeline --rounds 5 --workers 2 --format json crawl.warc.gz"),
		Args:    atLeast(1, "at least one WARC file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := inRange(cmd, "rounds", o.Rounds, 1, 100); err != nil {
				return err
			}
			if err := checkFiles(cmd, args); err != nil {
				return err
			}
			o.Files, o.Repo, o.Log = args, a.repositoryOptions(), a.stderr
			res, err := pipelinebench.Run(cmd.Context(), o)
			return a.print(err, res, res.Text)
		},
	}
	cmd.Flags().IntVar(&o.Rounds, "rounds", 3, "how often all three are run")
	pipelineFlags(cmd)
	return cmd
}
