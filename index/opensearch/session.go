package opensearch

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/spelling"
	"github.com/webindexer/indexer/internal/cache"
)

// Shard is the index on the server, for [search.NewShards], as its only shard: how the server
// divides it does not matter here. It is safe for concurrent use.
type Shard struct {
	c        *client
	cache    *cache.Cache[contentKey, *content]
	repeated hostRepeats

	completions completer

	anchors *index.AnchorMatcher
}

// OpenShard connects to an index, which need not exist yet.
func OpenShard(a Address, o Options) (*Shard, error) {
	c, err := newClient(a, o)
	if err != nil {
		return nil, err
	}
	return &Shard{c: c, cache: cache.New[contentKey, *content](maxContents), anchors: index.NewAnchorMatcher()}, nil
}

// Name implements search.ShardSource.
func (s *Shard) Name() string { return s.c.address.String() }

// Prepare makes everything that was written before searchable, which the server otherwise does once a
// second. It says what is there, as [Index.Inspect] does, and fails if there is no index.
func (s *Shard) Prepare(ctx context.Context) (Status, error) {
	have, err := (&Index{c: s.c}).Inspect(ctx)
	if err == nil && have.ID == "" {
		err = fmt.Errorf("%w at %s", index.ErrNoIndex, s.c.address)
	}
	return have, err
}

// Begin implements search.ShardSource.
func (s *Shard) Begin(context.Context) (search.Session, error) {
	return &session{Shard: s, docs: make(map[int64]*candidate), ranks: make(map[string]record), ids: make(map[string]int64), periods: make(map[query.Period][]object)}, nil
}

// Requests returns how many requests have been sent so far. It shows what a search costs.
func (s *Shard) Requests() int64 { return s.c.sent.Load() }

// Close gives back connections.
func (s *Shard) Close() error {
	s.c.close()
	return nil
}

// session is one search. Each question sees the server's state at that moment. If a
// document is removed meanwhile, its hit shows no text.
type session struct {
	*Shard
	docs    map[int64]*candidate
	ids     map[string]int64  // by cluster
	ranks   map[string]record // renewed ranks, by cluster; zero if there is none
	periods map[query.Period][]object
}

// Close implements search.Session.
func (s *session) Close() error { return nil }

// Ask implements search.Session.
func (s *session) Ask(ctx context.Context, q *search.Question) (*search.Answer, error) {
	a, err := search.AnswerFrom(ctx, s, q)
	if err != nil {
		return nil, fmt.Errorf("search in OpenSearch: %w", err)
	}
	return a, nil
}

func (s *session) Documents(ctx context.Context) (int, error) {
	state, err := s.c.state(ctx, s.c.search)
	return state.Documents, err
}

func (s *session) Stemmers(ctx context.Context) (names []string, err error) {
	_, a, err := s.c.countsOf(ctx, nil, object{"stemmers": object{"terms": object{"field": "stemmer", "size": 100}}})
	if err != nil {
		return nil, err
	}
	list, err := a.buckets("stemmers")
	for _, b := range list {
		names = append(names, b.Key)
	}
	return names, err
}

// mostTags bounds the different tags that are counted.
const mostTags = 20_000

func (s *session) Tags(ctx context.Context) (t search.Tags, err error) {
	kinds := object{}
	for name, kind := range map[string]rune{"sites": analysis.TagSite, "languages": analysis.TagLang} {
		kinds[name] = object{"terms": object{"field": "tags", "size": mostTags, "include": analysis.Tag(kind, "") + ".*"}}
	}
	_, a, err := s.c.countsOf(ctx, nil, kinds)
	if err != nil {
		return t, err
	}
	count := func(name string) map[string]int {
		counts := make(map[string]int)
		list, wrong := a.buckets(name)
		err = errors.Join(err, wrong)
		for _, b := range list {
			counts[analysis.TagValue(b.Key)] = b.Count
		}
		return counts
	}
	t.Sites, t.Languages = count("sites"), count("languages")
	return t, err
}

func (s *session) Statistics(ctx context.Context, phrases []*query.Expr) (st search.Statistics, err error) {
	conditions := make([]object, len(phrases))
	for i, p := range phrases {
		conditions[i] = matching(p)
	}
	counts, a, err := s.c.countsOf(ctx, conditions, object{"tokens": object{"sum": object{"field": "tokens"}}})
	if err != nil {
		return st, err
	}
	st.Rows, st.Documents = int64(a.Hits.Total.Value), counts
	st.Tokens, err = a.sum("tokens")
	return st, err
}

func (s *session) Counts(ctx context.Context, list []search.Matching) ([]int, error) {
	conditions := make([]object, len(list))
	for i, m := range list {
		period, err := s.fetched(ctx, m.Fetched)
		if err != nil {
			return nil, err
		}
		conditions[i] = kept(append(period, matching(m.Expr))...)
	}
	counts, _, err := s.c.countsOf(ctx, conditions, nil)
	return counts, err
}

// Near asks the server for words that are spelled like a word. A word of a text counts if two
// documents have it, and a word of a title or an anchor always counts (package spelling).
func (s *session) Near(ctx context.Context, q *search.NearQuestion) (list []search.NearWord, err error) {
	const named, words = "named", "words"
	suggest := object{"text": q.Word}
	for _, field := range []string{named, words} {
		// The bounds of frequencies are per part of the index, so they allow all. By default, a word gets
		// no options that more than 1 % of the documents have.
		suggest[field] = object{"term": object{
			"field": field, "max_edits": q.Most, "prefix_length": 0, "min_word_length": 1, "suggest_mode": "always",
			"size": 500, "min_doc_freq": 0, "max_term_freq": 1_000_000_000, "max_inspections": 1000, "string_distance": "damerau_levenshtein",
		}}
	}
	a, err := s.c.search(ctx, object{"size": 0, "suggest": suggest})
	if err != nil {
		return nil, err
	}
	for field, answers := range a.Suggest {
		for _, answer := range answers {
			for _, option := range answer.Options {
				d := spelling.Distance(q.Word, spelling.Fold(option.Text), q.Most)
				if d > 0 && d <= q.Most && (field == named || option.Freq > 1) {
					list = append(list, search.NearWord{Word: option.Text, Distance: d})
				}
			}
		}
	}
	return list, nil
}
