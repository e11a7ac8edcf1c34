package engine

import (
	"fmt"
	"sync"

	"indexer/store"
)

// Gate counts running calls, so that Close can wait for them.
//
// It is not a sync.RWMutex on purpose: a callback of Scan may call the table
// again, and a second RLock behind a waiting Close would wait for ever. Behind a
// closing Gate the inner call fails with store.ErrClosed, and the outer one ends.
type Gate struct {
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// Enter admits a call, or fails with store.ErrClosed. Each nil return must be
// paired with one Leave.
func (g *Gate) Enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return fmt.Errorf("%w: open it again before using it", store.ErrClosed)
	}
	g.running.Add(1)
	return nil
}

// Leave ends an admitted call.
func (g *Gate) Leave() { g.running.Done() }

// Close refuses calls from now on and waits for those that were admitted. It
// reports whether this was the first Close.
func (g *Gate) Close() bool {
	g.mu.Lock()
	first := !g.closed
	g.closed = true
	g.mu.Unlock()
	g.running.Wait()
	return first
}
