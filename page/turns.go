package page

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// The tree of a page can take ten times the memory of its HTML, and thirty times that of HTML
// with hardly any text between its tags. So large pages take turns: those whose trees exist at
// the same time have at most treeBytes of HTML together, however many goroutines interpret
// pages. A page up to smallPage never waits.
const (
	smallPage = 1 << 20
	treeBytes = 32 << 20
)

var treeTurns = newTurns(treeBytes)

// turns bounds the bytes of the large pages that are worked on at the same time.
type turns struct {
	most int64
	free *semaphore.Weighted
}

func newTurns(most int64) *turns { return &turns{most: most, free: semaphore.NewWeighted(most)} }

// take waits until a page of n bytes fits, and returns the function that ends its turn. A
// page that never fits has a turn alone.
func (t *turns) take(n int) (done func()) {
	if n <= smallPage {
		return func() {}
	}
	weight := min(int64(n), t.most)
	_ = t.free.Acquire(context.Background(), weight) // fails only if the context ends
	return func() { t.free.Release(weight) }
}
