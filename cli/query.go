package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"indexer/index"
	"indexer/repository"
)

const queryHelp = `
Search the index files. Documents with all the words come first, by how well they
match and by their rank; where there are few, documents with some of the words
follow. Of duplicates only the best is shown. The files can be read at any time,
also while another process writes them.

  word            pages with the word, in any form of it
  "some words"    these words next to each other (quote the quotes for the shell)
  -word           not those with it (put -- before the first such word)
  site:HOST       only this host and its subdomains
  lang:TAG        only this language`

func (a *app) queryCommand() *cobra.Command {
	var offset int
	cmd := &cobra.Command{
		Use:   "query WORDS…",
		Short: "Search the index",
		Long:  long(queryHelp, statusDone, statusFailed, statusUsage),
		Example: examples(
			"indexer query lighthouse keeper",
			`indexer query '"lighthouse keeper" site:lighthouse.example'`,
			"indexer query -- lighthouse -museum",
			"indexer query --limit 1 --format json lighthouse | jq -r .hits[0].url",
		),
		Args: atLeast(1, "at least one word"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.query(cmd, strings.Join(args, " "), offset)
		},
	}
	cmd.SetFlagErrorFunc(queryFlagError)
	cmd.Flags().String("limit", strconv.Itoa(a.cfg.Query.Limit), "`number` of hits to show, at most 1000")
	cmd.Flags().IntVar(&offset, "offset", 0, "hits to skip")
	return cmd
}

// shortFlag finds the word in what is said of a flag of one letter that there is not.
var shortFlag = regexp.MustCompile(`^unknown shorthand flag: .* in (-.+)$`)

// queryFlagError: there are no flags of one letter, but words that are not wanted.
func queryFlagError(cmd *cobra.Command, err error) error {
	reason := err.Error()
	if m := shortFlag.FindStringSubmatch(reason); m != nil {
		reason = fmt.Sprintf("there is no flag %s; to leave out the pages with a word, put -- before all the words: indexer query -- WORDS %s", m[1], m[1])
	}
	return &usageError{reason: reason, help: cmd.CommandPath()}
}

func (a *app) query(cmd *cobra.Command, words string, offset int) (err error) {
	if offset < 0 || offset+a.cfg.Query.Limit > index.MaxResults {
		return &usageError{reason: fmt.Sprintf("--offset and --limit together reach from 0 to %d", index.MaxResults), help: "indexer query"}
	}
	dir := repository.IndexDir(a.cfg.Data)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("%w: %s", errNoData, a.cfg.Data)
	}
	r, err := index.OpenReader(dir)
	if err != nil {
		return fmt.Errorf("search in %s: %w", a.cfg.Data, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.NeedsRebuild() {
		_, _ = fmt.Fprintln(a.stderr, "the index was made by another version of this program; some pages may not be found until `indexer stats` has opened it once")
	}
	res, err := r.Search(cmd.Context(), words, index.Options{Limit: a.cfg.Query.Limit, Offset: offset})
	if err != nil {
		return err
	}
	if a.isJSON() {
		return printJSON(a.stdout, res)
	}
	_, err = io.WriteString(a.stdout, resultsText(res, offset, styleFor(a.stdout)))
	return err
}

// resultsText shows results to people.
func resultsText(res *index.Results, offset int, s style) string {
	var b strings.Builder
	took := fmt.Sprintf("%.1f ms", res.TookMS)
	switch {
	case res.Total == 0:
		fmt.Fprintf(&b, "Nothing was found (%s).\n", took)
	case len(res.Hits) == 0:
		fmt.Fprintf(&b, "%s, none after the first %d (%s).\n", count(res.Total, "document"), offset, took)
	case res.AllWords < res.Total:
		fmt.Fprintf(&b, "%s, %d of them with all the words (%s)\n", count(res.Total, "document"), res.AllWords, took)
	default:
		fmt.Fprintf(&b, "%s (%s)\n", count(res.Total, "document"), took)
	}
	if res.Ignored > 0 {
		fmt.Fprintf(&b, "The query is too long; its last %s did not count.\n", count(res.Ignored, "word"))
	}
	for i := range res.Hits {
		b.WriteByte('\n')
		hitText(&b, &res.Hits[i], s)
	}
	return b.String()
}

func hitText(b *strings.Builder, h *index.Hit, s style) {
	title := plain(h.Title)
	if title == "" {
		title = "(no title)"
	}
	fmt.Fprintf(b, "%2d. %s%s%s\n", h.Position, s.bold(), title, s.reset())
	fmt.Fprintf(b, "    %s\n", plain(string(h.URL)))
	open, end := "", ""
	if s.on {
		open, end = s.bold(), s.reset()
	}
	if text := h.Snippet.Render(open, end, plain); text != "" {
		fmt.Fprintf(b, "    %s\n", text)
	}
	fmt.Fprintf(b, "    %s%s%s\n", s.faint(), strings.Join(hitFacts(h), " · "), s.reset())
}

// hitFacts is the last line of a hit.
func hitFacts(h *index.Hit) []string {
	facts := []string{fmt.Sprintf("rank %.2f", h.Rank)}
	if h.Language != "" {
		facts = append(facts, plain(h.Language))
	}
	if !h.FetchedAt.IsZero() {
		facts = append(facts, "fetched "+h.FetchedAt.UTC().Format(time.DateOnly))
	}
	if h.Inlinks > 0 {
		facts = append(facts, count(h.Inlinks, "link")+" to it")
	}
	if n := len(h.Duplicates); n > 0 {
		facts = append(facts, count(n, "duplicate"))
	}
	return facts
}

// count is a number of things: "1 document", "2 documents".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
