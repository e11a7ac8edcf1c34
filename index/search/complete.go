package search

import (
	"context"

	"github.com/webindexer/indexer/index/completion"
)

// CompletionQuestion asks for completions of typed text (package completion).
type CompletionQuestion struct {
	Typed          string
	Site, Language string // restrict completions, as site: and lang: do; "" restricts nothing
	N              int
}

// Completion is a title or a link text that completes the typed text.
type Completion = completion.Completion

// MaxCompletions is the greatest number of completions of one text.
const MaxCompletions = 20

// Complete finds completions in one shard, best first.
func Complete(ctx context.Context, in Session, q CompletionQuestion) ([]Completion, error) {
	return completeAll(ctx, newFanout(in), q)
}

// Complete is [Complete] of the shards that answer.
func (s *Shards) Complete(ctx context.Context, q CompletionQuestion) (list []Completion, err error) {
	_, err = s.use(ctx, func(ctx context.Context, f *fanout) (err error) {
		list, err = completeAll(ctx, f, q)
		return err
	})
	return list, err
}

func completeAll(ctx context.Context, from *fanout, q CompletionQuestion) ([]Completion, error) {
	q.N = min(q.N, MaxCompletions)
	answers, err := from.askAll(ctx, &Question{Completion: &q})
	if err != nil {
		return nil, err
	}
	lists := make([][]Completion, len(answers))
	for i, a := range answers {
		lists[i] = a.Completions
	}
	return completion.Merge(q.N, lists...), nil
}
