package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/index/search"
)

const similarHelp = `
List the pages of the index whose main content is similar to that of one page, the most
similar ones first. Pages with the same text are one document, so they are not listed.

The similarity of two pages is the number of runs of four words that both pages have,
divided by the number that either page has: 1 for equal texts. It is estimated from
sketches in the index files; at a similarity of 0.8, the standard error is 0.035. A search
folds pages with a similarity of 0.8 or more into one hit. To write all pairs, use
` + "`indexer export --format similar`" + `.

The URL may be any URL of a document. Like query, this command reads the index files at
any time, even while another process writes them.`

func (a *app) similarCommand() *cobra.Command {
	var opts search.SimilarOptions
	cmd := &cobra.Command{
		Use:   "similar [--threshold SIMILARITY] [--limit N] URL",
		Short: "List the pages whose main content is similar to that of a page",
		Long:  long(similarHelp, statusDone, statusFailed, statusUsage),
		Example: examples(
			"indexer similar https://skerryrock.example/",
			"indexer similar --threshold 0.5 --limit 100 --format json https://skerryrock.example/ | jq -r '.pages[].url'",
		),
		Args: exactly(1, "one URL"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.similar(cmd, args[0], opts) },
	}
	cmd.Flags().Float64Var(&opts.Threshold, "threshold", 0.8, "minimum `similarity` of the listed pages, from 0.1 to 1")
	cmd.Flags().IntVar(&opts.Limit, "limit", 20, "`number` of pages to list, at most 1000")
	a.shardFlags(cmd)
	return cmd
}

func (a *app) similar(cmd *cobra.Command, raw string, opts search.SimilarOptions) (err error) {
	u, err := parseURL(raw)
	if err != nil {
		return err
	}
	if !(opts.Threshold >= 0.1 && opts.Threshold <= 1) {
		return &usageError{reason: "--threshold must be from 0.1 to 1", help: "indexer similar"}
	}
	if opts.Limit < 1 || opts.Limit > search.MaxResults {
		return &usageError{reason: fmt.Sprintf("--limit must be from 1 to %d", search.MaxResults), help: "indexer similar"}
	}
	r, err := a.openSearcher(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	res, err := r.Similar(cmd.Context(), u, opts)
	if err != nil {
		return err
	}
	return printResult(a.stdout, a.cfg.Format, res, similarText(res, styleFor(a.stdout)))
}

// similarText formats similar pages as text.
func similarText(res *search.SimilarPages, s style) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s%s\n%s\n", s.bold(), titleText(res.Title), s.reset(), plain(string(res.URL)))
	switch took := fmt.Sprintf("%.1f ms", res.TookMS); {
	case res.Total == 0:
		fmt.Fprintf(&b, "No page has a similarity of %.2f or more (%s).\n", res.Threshold, took)
	case res.Total == 1:
		fmt.Fprintf(&b, "1 page has a similarity of %.2f or more (%s)\n", res.Threshold, took)
	default:
		fmt.Fprintf(&b, "%d pages have a similarity of %.2f or more (%s)\n", res.Total, res.Threshold, took)
	}
	if len(res.Incomplete) > 0 {
		fmt.Fprintf(&b, "The list is incomplete, because a part of the index did not answer: %s.\n", plain(strings.Join(res.Incomplete, "; ")))
	}
	for _, p := range res.Pages {
		fmt.Fprintf(&b, "\n%.2f  %s%s%s\n      %s\n", p.Similarity, s.bold(), titleText(p.Title), s.reset(), plain(string(p.URL)))
	}
	if left := res.Total - len(res.Pages); left > 0 && len(res.Pages) > 0 {
		fmt.Fprintf(&b, "\n%d more: --limit lists them.\n", left)
	}
	return b.String()
}

// titleText is the title of a page on a terminal. What is in a <title> can be a whole book.
func titleText(title string) string {
	const most = 160 // characters, as on the search page
	if title = plain(title); title == "" {
		return "(no title)"
	}
	n := 0
	for i := range title {
		if n++; n > most {
			return strings.TrimRight(title[:i], " ") + "…"
		}
	}
	return title
}
