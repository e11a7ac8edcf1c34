package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/bench/crawlbench"
)

const crawlHelp = `
Crawl a generated site that a server on loopback serves (pages of 8 KB with 20
links), without politeness, into an empty directory until everything is indexed.
Compare the pages per second with gocolly/colly, which fetches and parses the same
site, as many pages at a time, and keeps nothing. For comparison, these run as well:
colly with its defaults, one page at a time; the same with a plain full-text index of the
pages; our fetcher and parser alone; these with the texts indexed in bulk but nothing
stored; our crawl with a WARC archive; and a replay of that archive, which loads the
same pages without finding and fetching them. All run alternately, --rounds times;
medians count. The output has the processor time per page of each, and of the server,
which is a separate process. For a quick run, use "crawl --pages 1000 --rounds 1".

With --memory, the pages are tiny, and only our crawler crawls the site, once. The heap
is reported after each tenth: it should not grow with the number of known URLs.`

// memoryPages is what --pages is with --memory, unless given.
const memoryPages = 200_000

func (a *app) crawlCommand() *cobra.Command {
	var o crawlbench.Options
	var memory bool
	cmd := &cobra.Command{
		Use:     "crawl",
		Short:   "Pages per second of a crawl, compared with a crawler that keeps nothing; its memory",
		Long:    strings.TrimSpace(crawlHelp),
		Example: examples("crawl", "crawl --pages 20000 --rounds 5", "crawl --memory --pages 200000"),
		Args:    exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if memory && !cmd.Flags().Changed("pages") {
				o.Pages = memoryPages
			}
			err := inRange(cmd, bound{"pages", o.Pages, 1, 10_000_000}, bound{"concurrency", o.Concurrency, 1, 10_000}, bound{"rounds", o.Rounds, 1, 100})
			switch {
			case err != nil:
				return err
			case memory && cmd.Flags().Changed("rounds"):
				return usage(cmd, "--memory crawls once, and takes no --rounds")
			}
			return a.crawl(cmd.Context(), o, memory)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&o.Pages, "pages", 5000, "`number` of pages of the site; with --memory 200000 unless given")
	flags.IntVar(&o.Concurrency, "concurrency", 32, "`number` of requests at a time")
	flags.IntVar(&o.Rounds, "rounds", 3, "how often all crawlers are run")
	flags.BoolVar(&memory, "memory", false, "many tiny pages: report how the heap grows with the known URLs")
	pipelineFlags(cmd)
	return cmd
}

func (a *app) crawl(ctx context.Context, o crawlbench.Options, memory bool) error {
	a.cfg.LimitMemory()
	o.Repo, o.Log = a.repositoryOptions(), a.stderr
	if memory {
		res, err := crawlbench.Memory(ctx, o)
		return a.print(err, res, res.Text)
	}
	res, err := crawlbench.Run(ctx, o)
	return a.print(err, res, res.Text)
}

// siteCommand is the server of crawl, which starts it in a process of its own.
func (a *app) siteCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "site PAGES,LINKS,TREE,BYTES",
		Short:  "Serve the site of bench crawl until standard input ends",
		Hidden: true,
		Args:   exactly(1, "the shape of a site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return crawlbench.ServeSite(cmd.Context(), args[0], a.stdin, a.stdout)
		},
	}
}
