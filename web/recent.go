package web

import (
	"context"
	"sync"
	"time"
)

// recent is what was last counted. Counting reads whole tables, so however many ask, it is
// done once in some time and by one at a time.
type recent[T any] struct {
	turn  sync.Mutex // held by who counts
	until time.Time
	last  T
}

// statsAge is how old counts may be.
const statsAge = 2 * time.Second

// get counts, unless what was last counted is younger than age, or than ten times what
// counting took.
func (c *recent[T]) get(ctx context.Context, age time.Duration, count func(context.Context) (T, error)) (T, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	begun := time.Now()
	if begun.Before(c.until) {
		return c.last, nil
	}
	if err := ctx.Err(); err != nil { // it waited for its turn for too long
		return c.last, err
	}
	now, err := count(ctx)
	if err != nil {
		return c.last, err
	}
	c.last, c.until = now, time.Now().Add(max(age, 10*time.Since(begun)))
	return now, nil
}
