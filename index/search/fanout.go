package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/page"
)

// fanout asks all shards in parallel, and merges their answers.
type fanout struct {
	sessions []Session
	stemmers []string             // of all shards, once read
	rows     int64                // documents in all shards, once a phrase is known
	tokens   int64                // of all these
	phrases  map[scoredPhrase]int // documents with a phrase, in all shards
}

// scoredPhrase is a phrase and the columns in which it counts.
type scoredPhrase struct {
	query.Phrase
	in postings.Columns
}

func newFanout(sessions ...Session) *fanout {
	return &fanout{sessions: sessions, phrases: make(map[scoredPhrase]int)}
}

// The id of a candidate has the row id in its shard and, in higher bits, the number of the shard.
const rowBits = 48

func globalID(shard int, row int64) int64 { return int64(shard)<<rowBits | row }

func localID(id int64) (shard int, row int64) { return int(id >> rowBits), id & (1<<rowBits - 1) }

// shardError is an error of one of several shards.
type shardError struct {
	shard int // in fanout.sessions
	error
}

func (e *shardError) Unwrap() error { return e.error }

// errAnswer means that the answer of a shard does not fit the question. Its process may have
// another version.
var errAnswer = errors.New("an unexpected answer; all processes of a deployment need the same version")

// ask asks each shard its question, if it has one.
func (f *fanout) ask(ctx context.Context, question func(shard int) *Question) ([]*Answer, error) {
	answers := make([]*Answer, len(f.sessions))
	one := func(ctx context.Context, i int) (err error) {
		if q := question(i); q == nil {
			answers[i] = new(Answer)
		} else if answers[i], err = f.sessions[i].Ask(ctx, q); err != nil {
			return &shardError{i, err}
		}
		return nil
	}
	if len(f.sessions) == 1 {
		return answers, one(ctx, 0)
	}
	g, ctx := errgroup.WithContext(ctx)
	for i := range f.sessions {
		g.Go(func() error { return one(ctx, i) })
	}
	return answers, g.Wait()
}

// askAll asks all shards the same question.
func (f *fanout) askAll(ctx context.Context, q *Question) ([]*Answer, error) {
	return f.ask(ctx, func(int) *Question { return q })
}

// askEach asks each shard about its own documents. It calls take with what the shards say about
// each document, and with the index of the document in ids.
func askEach[T any](ctx context.Context, f *fanout, ids []int64, question func(rows []int64) *Question, said func(*Answer) []T, take func(i int, of T)) error {
	at := make([][]int, len(f.sessions)) // in ids
	rows := make([][]int64, len(f.sessions))
	for i, id := range ids {
		shard, row := localID(id)
		at[shard], rows[shard] = append(at[shard], i), append(rows[shard], row)
	}
	answers, err := f.ask(ctx, func(shard int) *Question {
		if len(rows[shard]) == 0 {
			return nil
		}
		return question(rows[shard])
	})
	if err != nil {
		return err
	}
	for shard, a := range answers {
		list := said(a)
		if len(list) != len(at[shard]) {
			return &shardError{shard, fmt.Errorf("%d answers about %d documents: %w", len(list), len(at[shard]), errAnswer)}
		}
		for i, of := range list {
			take(at[shard][i], of)
		}
	}
	return nil
}

// readStemmers reads the names of the stemmers of all shards.
func (f *fanout) readStemmers(ctx context.Context) error {
	answers, err := f.askAll(ctx, &Question{Stemmers: true})
	if err != nil {
		return err
	}
	for _, a := range answers {
		f.stemmers = append(f.stemmers, a.Stemmers...)
	}
	slices.Sort(f.stemmers)
	f.stemmers = slices.Compact(f.stemmers)
	return nil
}

// statistics returns what the scores of an expression depend on, over all shards.
func (f *fanout) statistics(ctx context.Context, expr *query.Expr) (Statistics, error) {
	all := expr.Scored()
	var unknown []*query.Expr
	for _, p := range all {
		if _, known := f.phrases[scoredPhrase{p.Phrase, p.In}]; !known {
			unknown = append(unknown, p)
		}
	}
	if len(unknown) > 0 {
		answers, err := f.askAll(ctx, &Question{Phrases: unknown})
		if err != nil {
			return Statistics{}, err
		}
		var sum Statistics
		for i, a := range answers {
			if len(a.Statistics.Documents) != len(unknown) {
				return sum, &shardError{i, fmt.Errorf("statistics of %d phrases instead of %d: %w", len(a.Statistics.Documents), len(unknown), errAnswer)}
			}
			sum.add(a.Statistics)
		}
		f.rows, f.tokens = sum.Rows, sum.Tokens
		for i, p := range unknown {
			f.phrases[scoredPhrase{p.Phrase, p.In}] = sum.Documents[i]
		}
	}
	out := Statistics{Rows: f.rows, Tokens: f.tokens, Documents: make([]int, len(all))}
	for i, p := range all {
		out.Documents[i] = f.phrases[scoredPhrase{p.Phrase, p.In}]
	}
	return out, nil
}

// counts counts the documents of each of these sets.
func (f *fanout) counts(ctx context.Context, list ...Matching) ([]int, error) {
	out := make([]int, len(list))
	if len(list) == 0 {
		return out, nil
	}
	answers, err := f.askAll(ctx, &Question{Counts: list})
	if err != nil {
		return nil, err
	}
	for shard, a := range answers {
		if len(a.Counts) != len(list) {
			return nil, &shardError{shard, fmt.Errorf("%d counts instead of %d: %w", len(a.Counts), len(list), errAnswer)}
		}
		for i, n := range a.Counts {
			out[i] += n
		}
	}
	return out, nil
}

// best returns the best documents by BM25, and how many match.
func (f *fanout) best(ctx context.Context, m Matching, n int, w Weights) ([]candidate, int, error) {
	st, err := f.statistics(ctx, m.Expr)
	if err != nil {
		return nil, 0, err
	}
	return f.bestOf(ctx, &BestQuestion{Matching: m, N: n, Weights: w, Statistics: st})
}

// among does what best does, for the documents that have one of these canonical URLs.
func (f *fanout) among(ctx context.Context, m Matching, urls []string, w Weights) ([]candidate, error) {
	st, err := f.statistics(ctx, m.Expr)
	if err != nil {
		return nil, err
	}
	list, _, err := f.bestOf(ctx, &BestQuestion{Matching: m, N: len(urls), Weights: w, Statistics: st, URLs: urls})
	return list, err
}

func (f *fanout) bestOf(ctx context.Context, q *BestQuestion) ([]candidate, int, error) {
	answers, err := f.askAll(ctx, &Question{Best: q})
	if err != nil {
		return nil, 0, err
	}
	total := 0
	for _, a := range answers {
		total += a.Total
	}
	return merged(answers, q.N, BetterFound), total, nil
}

// BetterFound returns the order of documents by score; equal scores are ordered by URL.
func BetterFound(a, b Found) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.URL, b.URL))
}

// sorted returns documents in an order that has nothing to do with words. Their score is
// the rank.
func (f *fanout) sorted(ctx context.Context, q *SortedQuestion) ([]candidate, error) {
	answers, err := f.askAll(ctx, &Question{Sorted: q})
	if err != nil {
		return nil, err
	}
	return merged(answers, q.N, func(a, b Found) int {
		if q.ByDate {
			return cmp.Or(cmp.Compare(b.Fetched, a.Fetched), cmp.Compare(a.URL, b.URL))
		}
		return BetterFound(a, b)
	}), nil
}

// latestFetch returns the time of the latest fetch of a document, in ns since 1970; 0 for none.
func (f *fanout) latestFetch(ctx context.Context, m Matching) (latest int64, err error) {
	answers, err := f.askAll(ctx, &Question{Sorted: &SortedQuestion{Matching: m, N: 1, ByDate: true}})
	if err != nil {
		return 0, err
	}
	for _, a := range answers {
		for _, d := range a.Found {
			latest = max(latest, d.Fetched)
		}
	}
	return latest, nil
}

// merged returns the first n documents of all answers, each of which is sorted. While a URL
// moves from one cluster to another, two shards may have it: the first one counts.
func merged(answers []*Answer, n int, order func(a, b Found) int) []candidate {
	list := answers[0].Found
	if len(answers) > 1 {
		list = nil
		for shard, a := range answers {
			for _, d := range a.Found {
				d.ID = globalID(shard, d.ID)
				list = append(list, d)
			}
		}
		slices.SortStableFunc(list, order)
		list = firstOfEach(list, func(d *Found) page.URL { return d.URL })
	}
	out := make([]candidate, min(max(n, 0), len(list)))
	for i := range out {
		d := &list[i]
		out[i] = candidate{id: d.ID, score: d.Score, text: d.Score, rank: d.Rank, url: d.URL, language: d.Language, title: rankedTitle(d.Title), key: d.key}
	}
	return out
}

// firstOfEach drops an element that has the URL of an element before it.
func firstOfEach[T any](list []T, urlOf func(*T) page.URL) []T {
	seen := make(map[page.URL]bool, len(list))
	return slices.DeleteFunc(list, func(e T) bool {
		u := urlOf(&e)
		again := seen[u]
		seen[u] = true
		return again
	})
}

// matchAnchors returns how well anchors of the documents agree with the query.
func (f *fanout) matchAnchors(ctx context.Context, list []candidate, words []query.Word) error {
	return askEach(ctx, f, idsOf(list), func(rows []int64) *Question {
		return &Question{Anchors: &AnchorsQuestion{rows, words}}
	}, func(a *Answer) []float64 { return a.Matches }, func(i int, match float64) { list[i].anchorMatch = match })
}

// sketches reads what shows whether candidates are alike.
func (f *fanout) sketches(ctx context.Context, list []candidate) error {
	return askEach(ctx, f, idsOf(list), func(rows []int64) *Question {
		return &Question{Sketches: &SketchesQuestion{rows}}
	}, func(a *Answer) []Sketched { return a.Sketches }, func(i int, s Sketched) { list[i].sketched(&s) })
}

// hits returns what a result page shows of documents.
func (f *fanout) hits(ctx context.Context, list []candidate, c *query.Query) ([]Hit, error) {
	hits := make([]Hit, len(list))
	err := askEach(ctx, f, idsOf(list), func(rows []int64) *Question {
		return &Question{Hits: &HitsQuestion{IDs: rows, Query: c.Text, Stemmers: f.stemmers, Verbatim: c.Verbatim, compiled: c}}
	}, func(a *Answer) []Hit { return a.Hits }, func(i int, h Hit) {
		if h.Duplicates == nil { // the connection to another machine keeps no empty lists
			h.Duplicates = []page.URL{}
		}
		hits[i] = h
	})
	return hits, err
}

// columns scores documents of an expression with other weights: for each document, it
// returns a score with each of the weights.
func (f *fanout) columns(ctx context.Context, expr *query.Expr, ids []int64, weights []Weights) ([][]float64, error) {
	st, err := f.statistics(ctx, expr)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids) // so the ids of each shard ascend
	out := make([][]float64, len(ids))
	err = askEach(ctx, f, ids, func(rows []int64) *Question {
		return &Question{Columns: &ColumnsQuestion{Expr: expr, IDs: rows, Weights: weights, Statistics: st}}
	}, func(a *Answer) [][]float64 { return byDocument(a.Columns, len(weights)) }, func(i int, scores []float64) { out[i] = scores })
	return out, err
}

// byDocument turns lists of scores, one for each of the weights, into lists for each document. It
// returns nil if there are not as many lists as weights, or the lists differ in length.
func byDocument(lists [][]float64, weights int) (out [][]float64) {
	if len(lists) != weights {
		return nil
	}
	for i, scores := range lists {
		if i == 0 {
			out = make([][]float64, len(scores))
		}
		if len(scores) != len(out) {
			return nil
		}
		for at, score := range scores {
			out[at] = append(out[at], score)
		}
	}
	return out
}

// near lists the words nearest to a folded word, without that word.
func (f *fanout) near(ctx context.Context, word string, most int) (list []NearWord, err error) {
	answers, err := f.askAll(ctx, &Question{Near: &NearQuestion{word, most}})
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		list = append(list, a.Near...)
	}
	return Nearest(list), nil
}

// tags counts documents by site and by language.
func (f *fanout) tags(ctx context.Context) (Tags, error) {
	answers, err := f.askAll(ctx, &Question{Tags: true})
	if err != nil {
		return Tags{}, err
	}
	t := Tags{make(map[string]int), make(map[string]int)}
	for _, a := range answers {
		for name, n := range a.Tags.Sites {
			t.Sites[name] += n
		}
		for name, n := range a.Tags.Languages {
			t.Languages[name] += n
		}
	}
	return t, nil
}

// documents counts all documents.
func (f *fanout) documents(ctx context.Context) (n int, err error) {
	answers, err := f.askAll(ctx, &Question{Documents: true})
	if err != nil {
		return 0, err
	}
	for _, a := range answers {
		n += a.Documents
	}
	return n, nil
}

func idsOf(list []candidate) []int64 {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].id
	}
	return ids
}
