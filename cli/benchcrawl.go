package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"indexer/bench"
	"indexer/frontier"
)

const benchCrawlHelp = `
Crawl a site that a server on loopback makes up (pages of 8 KB with 20 links),
without politeness, into an empty directory until everything is indexed, and
compare the pages per second with gocolly/colly, which fetches and parses the same
site, as many pages at a time, and keeps nothing. Printed beside it: colly as it is
by default, one page at a time; our fetcher and parser alone; and these with the
texts indexed in bulk but nothing stored. All run in turn, --rounds times; medians
count. The processor time of a page is printed for each, and apart from it that of
the server, a process of its own.

With --memory the site has tiny pages, only the program itself crawls it, once, and
the heap is reported after each tenth: it should not grow with the URLs known.`

// benchCrawlFlags are the settings of bench crawl.
type benchCrawlFlags struct {
	pages, concurrency, rounds int
	memory                     bool
}

// benchMemoryPages is what --pages is with --memory, unless given.
const benchMemoryPages = 200_000

func (a *app) benchCrawlCommand() *cobra.Command {
	var f benchCrawlFlags
	cmd := &cobra.Command{
		Use:     "crawl",
		Short:   "Pages per second of a crawl, beside a crawler that keeps nothing; its memory",
		Long:    long(benchCrawlHelp, statusDone, statusFailed, statusUsage, statusNoSpace),
		Example: examples("indexer bench crawl", "indexer bench crawl --pages 20000 --rounds 5", "indexer bench crawl --memory --pages 200000"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.memory && !cmd.Flags().Changed("pages") {
				f.pages = benchMemoryPages
			}
			return a.benchCrawl(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.pages, "pages", 5000, "`number` of pages of the site; with --memory 200000 unless given")
	flags.IntVar(&f.concurrency, "concurrency", 32, "`number` of requests at a time")
	flags.IntVar(&f.rounds, "rounds", 3, "how often both are run")
	flags.BoolVar(&f.memory, "memory", false, "many tiny pages: report how the heap grows with the URLs known")
	a.pipelineFlags(cmd)
	return cmd
}

func (f *benchCrawlFlags) check() error {
	switch {
	case f.pages < 1 || f.pages > 10_000_000:
		return &usageError{reason: "--pages is from 1 to 10000000", help: "indexer bench crawl"}
	case f.concurrency < 1 || f.concurrency > 10_000:
		return &usageError{reason: "--concurrency is from 1 to 10000", help: "indexer bench crawl"}
	case f.rounds < 1 || f.rounds > 100:
		return &usageError{reason: "--rounds is from 1 to 100", help: "indexer bench crawl"}
	}
	return nil
}

func (a *app) benchCrawl(ctx context.Context, f benchCrawlFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	limitMemory(a.cfg.Memory) // as crawl does
	o := bench.CrawlOptions{
		Pages: f.pages, Concurrency: f.concurrency, Workers: a.cfg.Workers, Rounds: f.rounds, Log: a.stderr,
		Repo: a.repositoryOptions(&frontier.Crawl{}),
	}
	if f.memory {
		res, err := bench.CrawlMemory(ctx, o)
		return a.printBench(res, err, func() string { return benchCrawlMemoryText(res) })
	}
	res, err := bench.Crawl(ctx, o)
	return a.printBench(res, err, func() string { return benchCrawlText(res) })
}

// printBench prints a result in the form that was asked for.
func (a *app) printBench(res any, err error, text func() string) error {
	if err != nil {
		return err
	}
	if a.isJSON() {
		return printJSON(a.stdout, res)
	}
	_, err = io.WriteString(a.stdout, text())
	return err
}

func benchCrawlText(res *bench.CrawlResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pages, %d requests at a time, %d rounds\n", res.Pages, res.Concurrency, len(res.Ours))
	fmt.Fprintf(&b, "%-10s %8s %12s %12s\n", "", "pages/s", "CPU ms/page", "server's")
	for _, side := range res.Sides {
		fmt.Fprintf(&b, "%-10s %8.0f %12.2f %12.2f  %s\n", side.Name, side.Rate, side.CPU, side.Server, side.What)
	}
	fmt.Fprintf(&b, "indexer: %.2f of colly, %.2f of colly by default\n", res.Ratio, res.SyncRatio)
	fmt.Fprintf(&b, "heap of indexer, at most %s alive, %s with garbage\n", megabytes(int64(res.Heap.Live)), megabytes(int64(res.Heap.Objects)))
	b.WriteString("\nwhere indexer's last round went, waiting included:\n")
	stagesText(&b, res.Stages)
	return b.String()
}

// benchSiteCommand is the server of bench crawl, which starts it by itself.
func (a *app) benchSiteCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "site PAGES,LINKS,TREE,BYTES",
		Short:   "Serve the site of bench crawl until standard input ends",
		Hidden:  true,
		Example: examples("indexer bench site 5000,20,4,8192"),
		Args:    exactly(1, "the shape of a site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return bench.ServeSite(cmd.Context(), args[0], a.stdin, a.stdout)
		},
	}
}

func benchCrawlMemoryText(res *bench.CrawlMemoryResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pages in %.1f s, %.0f pages/s\n", res.Pages, res.Seconds, res.Rate)
	b.WriteString("the heap over each tenth, least and most:\n")
	for _, s := range res.Steps {
		fmt.Fprintf(&b, "  up to %9d pages  %8s to %8s alive  %9s with garbage\n", s.Pages, megabytes(int64(s.Least)), megabytes(int64(s.Live)), megabytes(int64(s.Objects)))
	}
	if res.Growth > 0 {
		fmt.Fprintf(&b, "least alive in the last tenth: %.2f of the fourth\n", res.Growth)
	}
	b.WriteString("\nwhere it went, waiting included:\n")
	stagesText(&b, res.Stages)
	return b.String()
}

func stagesText(b *strings.Builder, stages []bench.Stage) {
	for _, s := range stages {
		fmt.Fprintf(b, "  %-16s %7.2f s %5.1f %%  %d runs, %d rows\n", s.Name, s.Seconds, 100*s.Share, s.Runs, s.Rows)
	}
}
