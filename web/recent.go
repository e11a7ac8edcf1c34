package web

import (
	"context"
	"sync"
	"time"
)

// recent caches a count. Counting reads whole tables, so one request at a time counts, and
// the others share the result for some time.
type recent[T any] struct {
	turn  sync.Mutex // held while counting
	until time.Time
	last  T
}

// statsAge is the maximum age of counts.
const statsAge = 2 * time.Second

// get returns the cached count, or counts again if that is older than both age and ten
// times the time that counting took.
func (c *recent[T]) get(ctx context.Context, age time.Duration, count func(context.Context) (T, error)) (T, error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	begun := time.Now()
	if begun.Before(c.until) {
		return c.last, nil
	}
	if err := ctx.Err(); err != nil { // it waited too long for its turn
		return c.last, err
	}
	now, err := count(ctx)
	if err != nil {
		return c.last, err
	}
	c.last, c.until = now, time.Now().Add(max(age, 10*time.Since(begun)))
	return now, nil
}
