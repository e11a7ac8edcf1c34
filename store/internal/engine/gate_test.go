package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/store"
)

// TestGateEnded: a call whose context has ended is refused, and not counted.
func TestGateEnded(t *testing.T) {
	var g Gate
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Enter(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	g.Close()
}

// TestGateNested: a call made from within a running call while Close waits is refused
// instead of waiting for ever, and Close waits for the outer one.
func TestGateNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		if err := g.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		closed := false
		go func() {
			if !g.Close() {
				t.Error("the first Close does not think it is the first")
			}
			closed = true
		}()
		synctest.Wait()
		if closed {
			t.Error("Close did not wait for the running call")
		}
		if err := g.Enter(t.Context()); !errors.Is(err, store.ErrClosed) {
			t.Errorf("nested call: %v, want ErrClosed", err)
		}
		g.Leave()
		synctest.Wait()
		if !closed || g.Close() {
			t.Error("Close did not return after the last call, or a second one thinks it is the first")
		}
	})
}
