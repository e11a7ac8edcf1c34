package search

import (
	"context"
	"errors"

	"github.com/webindexer/indexer/index/query"
)

// Answerer answers every kind of [Question], each in the method that is named after the
// field of its [Answer].
type Answerer interface {
	Documents(context.Context) (int, error)
	Stemmers(context.Context) ([]string, error)
	Tags(context.Context) (Tags, error)
	Statistics(ctx context.Context, phrases []*query.Expr) (Statistics, error)
	Counts(context.Context, []Matching) ([]int, error)
	Best(context.Context, *BestQuestion) (list []Found, total int, err error)
	Sorted(context.Context, *SortedQuestion) ([]Found, error)
	Matches(context.Context, *AnchorsQuestion) ([]float64, error)
	Typed(context.Context, *TypedQuestion) ([]Typed, error)
	Passages(context.Context, *PassagesQuestion) ([]float64, error)
	Sketches(context.Context, *SketchesQuestion) ([]Sketched, error)
	Similar(context.Context, *SimilarQuestion) (SimilarAnswer, error)
	Hits(context.Context, *HitsQuestion) ([]Hit, error)
	Columns(context.Context, *ColumnsQuestion) ([][]float64, error)
	Near(context.Context, *NearQuestion) ([]NearWord, error)
	Completions(context.Context, *CompletionQuestion) ([]Completion, error)
}

// AnswerFrom has s answer a question.
func AnswerFrom(ctx context.Context, s Answerer, q *Question) (a *Answer, err error) {
	a = new(Answer)
	switch {
	case q.Documents:
		a.Documents, err = s.Documents(ctx)
	case q.Stemmers:
		a.Stemmers, err = s.Stemmers(ctx)
	case q.Tags:
		a.Tags, err = s.Tags(ctx)
	case q.Phrases != nil:
		a.Statistics, err = s.Statistics(ctx, q.Phrases)
	case q.Counts != nil:
		a.Counts, err = s.Counts(ctx, q.Counts)
	case q.Best != nil:
		a.Found, a.Total, err = s.Best(ctx, q.Best)
	case q.Sorted != nil:
		a.Found, err = s.Sorted(ctx, q.Sorted)
	case q.Anchors != nil:
		a.Matches, err = s.Matches(ctx, q.Anchors)
	case q.Typed != nil:
		a.Typed, err = s.Typed(ctx, q.Typed)
	case q.Passages != nil:
		a.Passages, err = s.Passages(ctx, q.Passages)
	case q.Sketches != nil:
		a.Sketches, err = s.Sketches(ctx, q.Sketches)
	case q.Similar != nil:
		a.Similar, err = s.Similar(ctx, q.Similar)
	case q.Hits != nil:
		a.Hits, err = s.Hits(ctx, q.Hits)
	case q.Columns != nil:
		a.Columns, err = s.Columns(ctx, q.Columns)
	case q.Near != nil:
		a.Near, err = s.Near(ctx, q.Near)
	case q.Completion != nil:
		a.Completions, err = s.Completions(ctx, q.Completion)
	default:
		err = errors.New("a shard got a question that this program does not know: all processes of a deployment need the same version")
	}
	return a, err
}
