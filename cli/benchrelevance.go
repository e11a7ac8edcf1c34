package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"indexer/bench"
	"indexer/frontier"
	"indexer/index"
	"indexer/repository"
)

const benchRelevanceHelp = `
Ask for known items: titles that only one document has, halves of Chinese, Japanese
and Korean ones, and anchors that lead to one document only, one of their links being
taken out of the index first. Reported is how often the document is the first hit,
one of the first five, and the mean reciprocal rank; with everything, and without
anchors, without rank, without the weight of titles.

Without files, the index of the data directory is asked (it is copied); with files, these are
replayed into a temporary directory. Queries are in two halves: --tune chooses
weights on the first, and figures are always of the second.`

func (a *app) benchRelevanceCommand() *cobra.Command {
	var queries int
	var tune, missed bool
	cmd := &cobra.Command{
		Use:     "relevance [FILE.warc[.gz]…]",
		Short:   "How often the right page is found, and what each signal adds",
		Long:    long(benchRelevanceHelp, statusDone, statusFailed, statusUsage, statusNoSpace),
		Example: examples("indexer bench relevance", "indexer bench relevance crawl.warc.gz", "indexer bench relevance --tune --format json crawl.warc.gz"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if queries < 1 || queries > 100_000 {
				return &usageError{reason: "--queries is from 1 to 100000", help: "indexer bench relevance"}
			}
			return a.benchRelevance(cmd.Context(), args, queries, tune, missed)
		},
	}
	cmd.Flags().IntVar(&queries, "queries", 500, "`number` of queries of each kind and half, at most")
	cmd.Flags().BoolVar(&tune, "tune", false, "look for better weights on the first half")
	cmd.Flags().BoolVar(&missed, "missed", false, "list queries whose page was not first")
	a.pipelineFlags(cmd)
	return cmd
}

func (a *app) benchRelevance(ctx context.Context, files []string, queries int, tune, missed bool) error {
	for _, path := range files {
		if _, err := findFile(path); err != nil {
			return err
		}
	}
	dir := repository.IndexDir(a.cfg.Data)
	if _, err := os.Stat(dir); err != nil && len(files) == 0 {
		return fmt.Errorf("%w: %s", errNoData, a.cfg.Data)
	}
	res, err := bench.Relevance(ctx, bench.RelevanceOptions{
		Files: files, Index: dir, Queries: queries, Weights: a.weights(), PerHost: a.cfg.Query.PerHost,
		Tune: tune, Workers: a.cfg.Workers, Repo: a.repositoryOptions(&frontier.Crawl{}), Log: a.stderr,
	})
	return a.printBench(res, err, func() string { return benchRelevanceText(res, missed) })
}

func benchRelevanceText(res *bench.RelevanceResult, missed bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d documents\nweights %s\n", res.Documents, weightsText(&res.Weights))
	kindsText(&b, res.Kinds, missed)
	if res.Tuned != nil {
		fmt.Fprintf(&b, "\nbest of %d weights on the first half: %s\n", res.Trials, weightsText(res.Tuned))
		kindsText(&b, res.TunedKinds, false)
	}
	return b.String()
}

func kindsText(b *strings.Builder, kinds []bench.KindResult, missed bool) {
	for _, k := range kinds {
		fmt.Fprintf(b, "\n%s: %s\n  %d of %d queries\n", k.Kind, k.What, k.Queries, k.Population)
		for i, v := range k.Variants {
			if i == 0 {
				fmt.Fprintf(b, "  %-16s %10s %10s %6s\n", "", "success@1", "success@5", "MRR")
			}
			fmt.Fprintf(b, "  %-16s %10.3f %10.3f %6.3f\n", v.Variant, v.Success1, v.Success5, v.MRR)
		}
		for _, v := range k.Variants {
			for _, m := range v.Missed {
				if missed {
					fmt.Fprintf(b, "  at %d: %s\n    want %s\n    got  %s\n", m.Position, plain(m.Query), plain(m.Want), plain(m.Got))
				}
			}
		}
	}
}

func weightsText(w *index.Weights) string {
	return fmt.Sprintf("title %g, body %g, anchors %g, outside_anchors %g, url %g; title_match %g, anchor_match %g, rank %g",
		w.Title, w.Body, w.Anchors, w.Outside, w.URL, w.TitleMatch, w.AnchorMatch, w.Rank)
}

// weights are the settings of ranking.
func (a *app) weights() index.Weights {
	w := &a.cfg.Query.Weights
	return index.Weights{
		Title: w.Title, Body: w.Body, Anchors: w.Anchors, Outside: w.Outside, URL: w.URL,
		TitleMatch: w.TitleMatch, AnchorMatch: w.AnchorMatch, Rank: w.Rank,
	}
}
