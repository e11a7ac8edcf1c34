package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/bench/querybench"
	"github.com/webindexer/indexer/index/search"
)

const queryHelp = `
Measure queries of one to four words, ten hits with snippets each, one after the
other.

With files, they are replayed into a temporary directory. The same queries are then
asked alternately alone, which is the baseline, and during a second replay of the files.
With --documents, that many are generated, in --shards indexes that each query asks at
the same time; several shards are compared with one index that has everything, in
alternating runs. Without either, the index of the data directory is asked.`

func (a *app) queryCommand() *cobra.Command {
	var o querybench.Options
	cmd := &cobra.Command{
		Use:     "query [FILE.warc[.gz]…]",
		Short:   "How long queries take, alone and during a replay",
		Long:    strings.TrimSpace(queryHelp),
		Example: examples("query", "query crawl.warc.gz", "query --documents 100000 --shards 2"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Files = args; o.Documents > 0 && len(o.Files) > 0 {
				return usage(cmd, "give files or --documents, not both")
			}
			err := inRange(cmd, bound{"queries", o.Queries, 1, 1_000_000}, bound{"documents", o.Documents, 0, 10_000_000}, bound{"shards", o.Shards, 1, 64})
			if err != nil {
				return err
			}
			return a.query(cmd, o)
		},
	}
	cmd.Flags().IntVar(&o.Queries, "queries", 1000, "`number` of queries, at most one a document")
	cmd.Flags().IntVar(&o.Documents, "documents", 0, "`number` of documents to generate")
	cmd.Flags().StringVar(&o.Profile, "profile", "", "`file` that keeps the processor profile of the queries, for go tool pprof")
	cmd.Flags().IntVar(&o.Shards, "shards", 1, "`number` of indexes that they are divided into")
	return cmd
}

func (a *app) query(cmd *cobra.Command, o querybench.Options) (err error) {
	if err := checkFiles(cmd, o.Files); err != nil {
		return err
	}
	if o.Index, err = a.index(cmd, len(o.Files) == 0 && o.Documents == 0); err != nil {
		return err
	}
	o.Log, o.PerHost, o.Weights = a.stderr, a.cfg.Query.PerHost, search.Weights(a.cfg.Query.Weights)
	o.Replay = func(ctx context.Context, dir string) error {
		replay, err := measure.Self(ctx, append([]string{"replay", "--data", dir, "--config", a.configFile, "--"}, o.Files...)...)
		if err != nil {
			return err
		}
		if out, err := replay.CombinedOutput(); err != nil {
			return fmt.Errorf("replay in another process: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	res, err := querybench.Run(cmd.Context(), o)
	return a.print(err, res, res.Text)
}

// replayCommand is the replay that runs during the queries, in a process of its own.
func (a *app) replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "replay FILE.warc[.gz]…",
		Short:  "Replay files into the directory --data",
		Hidden: true,
		Args:   needsWARC,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := measure.Replay(cmd.Context(), a.cfg.Data, args, a.repositoryOptions())
			return err
		},
	}
}
