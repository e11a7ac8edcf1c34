package opensearch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// completer completes typed text from a table of titles and anchors, as index files do. It asks
// the server for its state from time to time, not for each letter.
type completer struct {
	index.Completions

	mu    sync.Mutex
	state index.State
	until time.Time // the server is not asked for its state before
}

// stateFor is how long a state counts as the server's current state.
const stateFor = 10 * time.Second

func (s *session) Completions(ctx context.Context, q *search.CompletionQuestion) ([]search.Completion, error) {
	state, err := s.completions.stateOf(ctx, s.c)
	if err != nil {
		return nil, err
	}
	return s.completions.Find(ctx, state, q, s.eachByRank)
}

func (k *completer) stateOf(ctx context.Context, c *client) (index.State, error) {
	k.mu.Lock()
	state, known := k.state, time.Now().Before(k.until)
	k.mu.Unlock()
	if known {
		return state, nil
	}
	state, err := c.state(ctx, c.search)
	if err != nil {
		return state, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state, k.until = state, time.Now().Add(stateFor)
	return state, nil
}

// eachByRank calls add with the documents that had the highest ranks when they were exported.
func (s *session) eachByRank(ctx context.Context, add func(u page.URL, language, title, anchors string, rank float64) error) (err error) {
	v, err := (&Index{c: s.c}).Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	n := 0
	order := []object{{"rank": object{"order": "desc", "missing": "_last"}}, {"cluster": "asc"}}
	return v.scan(ctx, pageSize, order, []string{"cluster", "seq", "rank", "touch", "content"}, nil, func(list []*record) (bool, error) {
		if err := join(ctx, v.search, list); err != nil {
			return false, err
		}
		for _, r := range list {
			a, err := r.readAbout()
			if err != nil {
				return false, err
			}
			if err := add(a.URL, a.Language, a.Title, a.Anchors, r.Rank); err != nil {
				return false, err
			}
		}
		n += len(list)
		return n < index.MaxCompleted, nil
	})
}
