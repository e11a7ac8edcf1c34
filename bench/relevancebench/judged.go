package relevancebench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// JudgedResult tells how well queries that people wrote are answered.
type JudgedResult struct {
	File      string          `json:"file"`
	Documents int             `json:"documents"`
	Queries   int             `json:"queries"`
	Variants  []JudgedVariant `json:"variants"`
	Agreement *Agreement      `json:"agreement,omitempty"` // of a server with index files
}

// JudgedVariant is one way to answer the queries: the search as it is, with a part left
// out, or plain FTS5.
type JudgedVariant struct {
	Variant  string  `json:"variant"`
	Success1 float64 `json:"success_at_1"` // the first hit is a page that was asked for
	Success5 float64 `json:"success_at_5"` // one of the first five is
	NDCG     float64 `json:"ndcg_at_10"`
	// Repeats is how many of the first ten hits repeat a hit above them, on average.
	Repeats float64 `json:"repeats_per_page"`
	// HeadRepeats is the same for frequent words of titles (head.go), instead of the queries.
	HeadRepeats float64 `json:"head_repeats_per_page"`
	// Navigation is the share of snippets of which at least half the words are on many
	// pages of the host.
	Navigation float64 `json:"navigation_snippets"`
	// OtherLanguage is the share of English queries whose first hit is in another language.
	OtherLanguage float64 `json:"first_in_other_language"`
	// Missed are the queries whose first hit is not a page that was asked for.
	Missed []Miss `json:"missed,omitempty"`
}

// shown is a hit as a person sees it.
type shown struct {
	url      page.URL
	language string
	snippet  string
}

func urlsOf(hits []shown) []page.URL {
	urls := make([]page.URL, len(hits))
	for i := range hits {
		urls[i] = hits[i].url
	}
	return urls
}

// answerer gives the first ten hits.
type answerer func(ctx context.Context, query string) ([]shown, error)

// runJudged asks the queries of a file.
func runJudged(ctx context.Context, o Options, queries []judged, source, dir string) (_ *JudgedResult, err error) {
	r, err := index.OpenReader(source)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	fts, err := openPlain(ctx, r, filepath.Join(dir, "plain.sqlite"))
	if err != nil {
		return nil, fmt.Errorf("plain FTS5: %w", err)
	}
	defer func() { err = errors.Join(err, fts.close()) }()
	pages, err := readPages(ctx, r)
	if err != nil {
		return nil, err
	}
	res := &JudgedResult{File: filepath.Base(o.QueryFile), Documents: pages.documents, Queries: len(queries)}
	add := func(name string, by answerer) error {
		v, err := judge(ctx, queries, by, pages)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		v.Variant = name
		res.Variants = append(res.Variants, v)
		return nil
	}
	if o.Server != nil {
		return res, askServer(ctx, &o, r, add, res)
	}
	for i, v := range judgedVariants(&o) {
		if i > 0 && !o.Ablate {
			break
		}
		if err := add(v.name, answerBy(r, v.opts)); err != nil {
			return nil, err
		}
	}
	return res, add("plain FTS5", fts.answer)
}

// askServer asks the server, and index files that have its documents.
func askServer(ctx context.Context, o *Options, files *index.Reader, add func(string, answerer) error, res *JudgedResult) (err error) {
	s, err := o.Server.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	whole := judgedVariants(o)[0]
	theirs, ours := record(s), record(files)
	sent := s.requests()
	if err := add(whole.name, answerBy(theirs, whole.opts)); err != nil {
		return err
	}
	if err := add(whole.name+", index files", answerBy(ours, whole.opts)); err != nil {
		return err
	}
	res.Agreement = compared(ours, theirs, s.requests()-sent)
	return nil
}

// judgedVariants are the search as it is, and with each part left out that has a switch.
func judgedVariants(o *Options) []variant {
	whole := search.Options{Weights: o.Weights, PerHost: o.PerHost, Language: o.Language}
	without := func(name string, change func(*search.Options)) variant {
		v := variant{name: name, opts: whole}
		change(&v.opts)
		return v
	}
	return []variant{
		{name: "all", opts: whole},
		without("no corrections", func(o *search.Options) { o.Verbatim = true }),
		without("no folding", func(o *search.Options) { o.Unfold = true }),
		without("no language", func(o *search.Options) { o.Language = "" }),
		without("any number a host", func(o *search.Options) { o.PerHost = 0 }),
		without("no anchor match", func(o *search.Options) { o.Weights.AnchorMatch = 0 }),
		without("no title match", func(o *search.Options) { o.Weights.TitleMatch = 0 }),
		without("no title weight", func(o *search.Options) { o.Weights.Title, o.Weights.TitleMatch = o.Weights.Body, 0 }),
		without("no words as typed", func(o *search.Options) { o.Weights.Typed = 0 }),
		without("no rank", func(o *search.Options) { o.Weights.Rank = 0 }),
		without("no url", func(o *search.Options) { o.Weights.URL = 0 }),
	}
}

// answerBy searches the index.
func answerBy(r searcher, opts search.Options) answerer {
	return func(ctx context.Context, query string) ([]shown, error) {
		res, err := r.Search(ctx, query, opts)
		if err != nil {
			return nil, err
		}
		list := make([]shown, len(res.Hits))
		for i, h := range res.Hits {
			list[i] = shown{h.URL, h.Language, h.Snippet.Text}
		}
		return list, nil
	}
}

// judge asks the queries, several at a time, and grades what comes.
func judge(ctx context.Context, queries []judged, by answerer, pages *pages) (v JudgedVariant, err error) {
	results := make([][]shown, len(queries))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range queries {
		g.Go(func() (err error) {
			if results[i], err = by(gctx, queries[i].query); err != nil {
				return fmt.Errorf("%q: %w", queries[i].query, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return v, err
	}
	english, snippets := 0, 0
	for i, hits := range results {
		q := &queries[i]
		urls := urlsOf(hits)
		for _, h := range hits {
			snippets++
			if pages.isNavigation(h) {
				v.Navigation++
			}
		}
		repeats, err := pages.repeats(ctx, urls)
		if err != nil {
			return v, err
		}
		v.Repeats += float64(repeats)
		if q.language == "en" {
			english++
			if len(hits) > 0 && !sameLanguage(hits[0].language, q.language) {
				v.OtherLanguage++
			}
		}
		v.grade(q, urls)
	}
	if v.HeadRepeats, err = pages.repeatsOf(ctx, pages.head.queries(), by); err != nil {
		return v, err
	}
	n := float64(len(queries))
	v.Success1, v.Success5, v.NDCG, v.Repeats = v.Success1/n, v.Success5/n, v.NDCG/n, v.Repeats/n
	v.Navigation /= float64(max(snippets, 1))
	v.OtherLanguage /= float64(max(english, 1))
	return v, nil
}

// sameLanguage compares languages without their regions. A page whose language is unknown
// counts as being in the language of the query.
func sameLanguage(hit, query string) bool {
	return hit == "" || analysis.PrimaryLanguage(hit) == analysis.PrimaryLanguage(query)
}

// grade adds the grades of one result.
func (v *JudgedVariant) grade(q *judged, urls []page.URL) {
	grades := q.grades(urls)
	at := slices.Index(grades, bestGrade) + 1
	if at == 1 {
		v.Success1++
	} else {
		m := Miss{Query: q.query, Position: at, Want: q.answers[0][0].url.String()}
		if len(urls) > 0 {
			m.Got = string(urls[0])
		}
		v.Missed = append(v.Missed, m)
	}
	if at >= 1 && at <= 5 {
		v.Success5++
	}
	v.NDCG += ndcg(grades, q.ideal())
}

// ideal are the grades of the best possible result.
func (q *judged) ideal() []int {
	grades := make([]int, len(q.answers))
	for i, a := range q.answers {
		grades[i] = a.best()
	}
	slices.Sort(grades)
	slices.Reverse(grades)
	return grades
}

// ndcg is the discounted gain of the first ten grades, divided by that of the ideal.
func ndcg(grades, ideal []int) float64 { return gain(grades) / gain(ideal) }

func gain(grades []int) (sum float64) {
	for i, g := range grades[:min(len(grades), 10)] {
		sum += (math.Exp2(float64(g)) - 1) / math.Log2(float64(i)+2)
	}
	return sum
}
