package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/humanize"
)

const queryHelp = `
Search the index files. Documents that contain all the words come first, ordered by how
well they match and by their rank. If there are few, documents with some of the words
follow. Each cluster of duplicates appears once. The files can be read at any time, even
while another process writes them.

  word            pages with this word in any of its forms
  "some words"    these words next to each other (quote the quotes for the shell)
  -word           no pages with this word (put -- before the first such word)
  a OR b          either word; a OR b c means either of them, and c
  (a b) OR c      parentheses group (quote them for the shell)
  site:HOST       only this host and its subdomains
  lang:TAG        only this language
  filetype:TYPE   only URLs that end in .TYPE; html also finds URLs without an extension
  intitle:WORD    in the title; also intitle:"some words" and intitle:(a OR b)
  inurl:WORD      in the URL
  after:DATE      fetched on or after that day (2024-05-31, 2024-05 or 2024; UTC)
  before:DATE     fetched before that day

If no document contains all the words, but one contains them with the spelling
corrected, the results are for the corrected words. --verbatim turns this off.

Versions and translations of a page are one hit: the newest stable version, or the one
that the query names, in the language of the query or of the reader (--lang). So are
pages whose main contents are nearly the same: the best one. The others are listed under
it. --unfold shows them all.

After --per-host hits of one host, the first ten prefer hits of other hosts that fit
nearly as well. --explain shows how each score was computed; docs/ranking.md explains
the numbers.`

// queryFlags are the flags of query that set no settings.
type queryFlags struct {
	offset   int
	sort     string
	explain  bool
	verbatim bool
	unfold   bool
}

func (a *app) queryCommand() *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:        "query WORDS…",
		SuggestFor: []string{"search", "find"},
		Short:      "Search the index",
		Long:       long(queryHelp, statusDone, statusFailed, statusUsage),
		Example: examples(
			"indexer query lighthouse keeper",
			`indexer query '"the last keeper" site:skerryrock.example'`,
			"indexer query -- museum -boat",
			"indexer query --sort date museum after:2024-05",
			"indexer query --explain '(lighthouse OR museum) intitle:lamp filetype:html'",
			"indexer query --limit 1 --format json lighthouse | jq -r '.hits[0].url'",
		),
		Args: needsArgs("at least one word"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.query(cmd, strings.Join(args, " "), f)
		},
	}
	cmd.SetFlagErrorFunc(queryFlagError)
	cmd.Flags().String("limit", strconv.Itoa(a.cfg.Query.Limit), "`number` of hits to show, at most 1000")
	cmd.Flags().String("per-host", strconv.Itoa(a.cfg.Query.PerHost), "`number` of hits of one host among the first ten before hits of other hosts are preferred; 0: any")
	cmd.Flags().IntVar(&f.offset, "offset", 0, "`number` of hits to skip")
	cmd.Flags().StringVar(&f.sort, "sort", "relevance", "`order` of hits: relevance or date")
	cmd.Flags().String("lang", a.cfg.Query.Language, "`language` of the reader: other languages count less, unless the query is in one")
	cmd.Flags().BoolVar(&f.unfold, "unfold", false, "show versions, translations and near-duplicates as hits of their own")
	cmd.Flags().BoolVar(&f.verbatim, "verbatim", false, "search for the words as typed, without correcting their spelling")
	setSettings(cmd.Flags(), map[string]string{"limit": "query.limit", "per-host": "query.per_host", "lang": "query.language"})
	a.shardFlags(cmd)
	cmd.Flags().BoolVar(&f.explain, "explain", false, "show how each score was computed")
	return cmd
}

// queryFlagError explains unknown flags of one letter, which are usually words to exclude.
func queryFlagError(cmd *cobra.Command, err error) error {
	reason := flagReason(cmd, err)
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() != "" {
		word := "-" + unknown.GetSpecifiedShortnames()
		reason = fmt.Sprintf("there is no flag %s; to exclude pages with a word, put -- before all the words: indexer query -- WORDS %s", word, word)
	}
	return &usageError{reason: reason, help: cmd.CommandPath()}
}

func (a *app) query(cmd *cobra.Command, words string, f queryFlags) (err error) {
	order, ok := map[string]search.Sort{"relevance": search.ByRelevance, "date": search.ByDate}[f.sort]
	if !ok {
		return &usageError{reason: fmt.Sprintf("--sort: %q is not allowed; want relevance or date", f.sort), help: "indexer query"}
	}
	if f.offset < 0 || f.offset+a.cfg.Query.Limit > search.MaxResults {
		return &usageError{reason: fmt.Sprintf("--offset must not be negative, and --offset plus --limit must be at most %d", search.MaxResults), help: "indexer query"}
	}
	r, err := a.openSearcher(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if old, ok := r.(rebuildable); ok && old.NeedsRebuild() {
		_, _ = fmt.Fprintln(a.stderr, "the index files were written by another version of this program, and some pages may not be found; `indexer reindex` rebuilds them")
	}
	res, err := r.Search(cmd.Context(), words, search.Options{
		Limit: a.cfg.Query.Limit, Offset: f.offset, Weights: search.Weights(a.cfg.Query.Weights), PerHost: a.cfg.Query.PerHost, Language: a.cfg.Query.Language, Unfold: f.unfold, Sort: order, Explain: f.explain, Verbatim: f.verbatim,
	})
	if err != nil {
		return err
	}
	return printResult(a.stdout, a.cfg.Format, res, resultsText(res, f.offset, styleFor(a.stdout)))
}

// resultsText formats results as text.
func resultsText(res *search.Results, offset int, s style) string {
	var b strings.Builder
	took := fmt.Sprintf("%.1f ms", res.TookMS)
	if res.ShowingFor != "" {
		fmt.Fprintf(&b, "Showing results for: %s\nNo document has all the words of: %s (--verbatim searches for them as typed)\n", plain(res.ShowingFor), plain(res.Query))
	}
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
		fmt.Fprintf(&b, "The query is too long. Ignored at its end: %s.\n", count(res.Ignored, "word"))
	}
	for _, note := range res.Notes {
		fmt.Fprintln(&b, plain(note))
	}
	if res.Suggestion != "" && res.ShowingFor == "" {
		fmt.Fprintf(&b, "Did you mean: %s\n", plain(res.Suggestion))
	}
	for i := range res.Hits {
		b.WriteByte('\n')
		hitText(&b, &res.Hits[i], s)
	}
	return b.String()
}

func hitText(b *strings.Builder, h *search.Hit, s style) {
	fmt.Fprintf(b, "%2d. %s%s%s\n", h.Position, s.bold(), titleText(h.Title), s.reset())
	fmt.Fprintf(b, "    %s\n", plain(string(h.URL)))
	open, end := "", ""
	if s.on {
		open, end = s.bold(), s.reset()
	}
	if text := h.Snippet.Render(open, end, plain); text != "" {
		fmt.Fprintf(b, "    %s\n", text)
	}
	fmt.Fprintf(b, "    %s%s%s\n", s.faint(), strings.Join(hitFacts(h), " · "), s.reset())
	if len(h.Also) > 0 {
		fmt.Fprintf(b, "    %s%s%s\n", s.faint(), alsoText(h.Also), s.reset())
	}
	if h.MoreFromHost > 0 {
		fmt.Fprintf(b, "    %smore from this host: add site:%s%s\n", s.faint(), plain(h.URL.Host()), s.reset())
	}
	if h.Explanation != nil {
		explanationText(b, h.Explanation, h.Score)
	}
}

func explanationText(b *strings.Builder, e *search.Explanation, score float64) {
	if e.Tier == "no words" {
		fmt.Fprintf(b, "    score %s = rank alone\n", scoreNumber(score))
		return
	}
	more := ""
	for _, factor := range []struct {
		name  string
		value float64
	}{
		{"language", e.LanguageFactor}, {"site", e.SiteFactor}, {"section", e.SectionFactor}, {"version", e.VersionFactor},
		{"content", e.ContentFactor}, {"words as typed", e.TypedFactor}, {"words in passages", e.PassageFactor},
	} {
		if factor.value != 1 {
			more += fmt.Sprintf(" × %s %.2f", factor.name, factor.value)
		}
	}
	fmt.Fprintf(b, "    score %s = text %s × title %.2f × anchors %.2f × rank %.2f%s · %s\n",
		scoreNumber(score), scoreNumber(e.Text), e.TitleFactor, e.AnchorFactor, e.RankFactor, more, e.Tier)
	if e.PlaceOf != "" {
		fmt.Fprintf(b, "      in the place of %s, whose score is %s\n", plain(string(e.PlaceOf)), scoreNumber(e.PlaceOfScore))
	}
	if e.Repeats != "" {
		fmt.Fprintf(b, "      below others, because it adds little to what %s says\n", plain(string(e.Repeats)))
	}
	for _, o := range e.OtherWords {
		fmt.Fprintf(b, "      %s for %s\n", plain(o.As), plain(o.Word))
	}
	fmt.Fprintf(b, "      title match %.2f, anchor match %.2f, rank %s\n", e.TitleMatch, e.AnchorMatch, rankNumber(e.Rank))
	c := &e.Columns
	fmt.Fprintf(b, "      text by column alone: title %s, body %s, anchors %s, outside anchors %s, URL %s, rest %s\n",
		scoreNumber(c.Title), scoreNumber(c.Body), scoreNumber(c.Anchors), scoreNumber(c.Outside), scoreNumber(c.URL), scoreNumber(c.Rest))
}

// scoreNumber formats a score with three decimals, or, if these would be zero, with three
// significant digits: words that most documents have add that little.
func scoreNumber(f float64) string {
	if f != 0 && math.Abs(f) < 0.0005 {
		return fmt.Sprintf("%.2e", f)
	}
	return fmt.Sprintf("%.3f", f)
}

// alsoText lists the pages that are folded into a hit: versions and translations by their
// labels, and others by their URLs.
func alsoText(list []search.Also) string {
	const most = 8
	var labels, similar []string
	left := max(len(list)-most, 0)
	for _, a := range list[:min(len(list), most)] {
		label := plain(strings.ReplaceAll(a.Label, ", ", " ")) // "2.4 de, 2.2 fr"
		switch {
		case label != "" && slices.Contains(labels, label):
			left++
		case label != "":
			labels = append(labels, label)
		case a.Similar:
			similar = append(similar, plain(a.URL))
		default:
			labels = append(labels, plain(a.URL))
		}
	}
	var parts []string
	if len(labels) > 0 {
		parts = append(parts, "also in "+strings.Join(labels, ", "))
	}
	if len(similar) > 0 {
		parts = append(parts, "nearly the same: "+strings.Join(similar, ", "))
	}
	if left > 0 {
		parts = append(parts, fmt.Sprintf("%d more", left))
	}
	return strings.Join(parts, "; ")
}

// hitFacts returns the parts of the last line of a hit.
func hitFacts(h *search.Hit) []string {
	facts := []string{"rank " + rankNumber(h.Rank)}
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

// count formats a number of things: "1 document", "2 documents".
func count(n int, thing string) string { return humanize.Count(n, thing) }
