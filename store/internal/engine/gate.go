package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/store"
)

// Gate counts running calls, so that Close can wait for them. A call costs two
// atomic additions: every read goes through here.
//
// It is not a sync.RWMutex on purpose: a callback of Scan may call the table
// again, and a second RLock behind a waiting Close would wait for ever. Behind a
// closing Gate the inner call fails with store.ErrClosed, and the outer one ends.
type Gate struct {
	calls atomic.Int64 // running ones, and gateClosed once Close was called
	mu    sync.Mutex
	idle  sync.Cond // signalled when the last call leaves a closed gate
}

const gateClosed = 1 << 62

// Enter admits a call, or fails with store.ErrClosed, or because ctx has ended. Each nil
// return must be paired with one Leave.
func (g *Gate) Enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if g.calls.Add(1)&gateClosed == 0 {
		return nil
	}
	g.Leave()
	return fmt.Errorf("%w: open it again before using it", store.ErrClosed)
}

// Leave ends an admitted call.
func (g *Gate) Leave() {
	if g.calls.Add(-1) != gateClosed {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.idle.Broadcast()
}

// Close refuses calls from now on and waits for those that were admitted. It
// reports whether this was the first Close.
//
// Close checks the count and goes to sleep under the mutex, and the last call takes the
// mutex after it has counted itself out, so Close cannot miss its signal. A refused
// call is counted for a moment; it touches nothing, and at most makes Close check the
// count once more.
func (g *Gate) Close() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.idle.L = &g.mu
	first := g.calls.Or(gateClosed)&gateClosed == 0
	for g.calls.Load() != gateClosed {
		g.idle.Wait()
	}
	return first
}
