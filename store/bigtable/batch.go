package bigtable

import (
	"sync"
	"time"
)

// batcher lets concurrent calls share requests, as in the paper's section 2.5. A call that
// finds no request under way is sent at once, so that a single caller never waits.
// Others wait until the requests under way have returned, but no longer than delay.
type batcher[C any] struct {
	delay time.Duration
	// send makes one request of calls, and tells each its result before it returns.
	send func(calls []C)
	// fits reports whether a call can be added to a request.
	fits func(calls []C, c C) bool

	mu      sync.Mutex
	pending []C
	timer   *time.Timer // running while something is pending
	flying  int
	running sync.WaitGroup // requests in goroutines of their own
}

// do makes a request for c, possibly together with other calls. When it returns, the
// request may still be under way in another goroutine.
func (b *batcher[C]) do(c C) {
	b.mu.Lock()
	if b.delay > 0 && b.flying > 0 {
		b.join(c)
		b.mu.Unlock()
		return
	}
	b.flying++
	b.mu.Unlock()
	b.send([]C{c})
	b.landed()
}

// join adds c to the pending calls. It is called with mu held.
func (b *batcher[C]) join(c C) {
	if len(b.pending) > 0 && !b.fits(b.pending, c) {
		b.flush()
	}
	if len(b.pending) == 0 {
		if b.timer == nil {
			b.timer = time.AfterFunc(b.delay, b.late)
		} else {
			b.timer.Reset(b.delay)
		}
	}
	b.pending = append(b.pending, c)
}

// late sends the calls that have waited for long enough. The timer may fire for calls
// that were sent already; then it sends later ones too early, which is harmless.
func (b *batcher[C]) late() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flush()
}

// flush sends the pending calls. It is called with mu held.
func (b *batcher[C]) flush() {
	if len(b.pending) == 0 {
		return
	}
	calls := b.pending
	b.pending = nil
	b.timer.Stop()
	b.flying++
	b.running.Go(func() {
		b.send(calls)
		b.landed()
	})
}

func (b *batcher[C]) landed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flying--
	if b.flying == 0 {
		b.flush()
	}
}

// wait waits for the requests under way; no new calls may come.
func (b *batcher[C]) wait() {
	b.mu.Lock()
	b.flush()
	b.mu.Unlock()
	b.running.Wait()
}
