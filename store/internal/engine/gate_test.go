package engine

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/store"
)

// TestGateNested: a call made from within a running call while Close waits is refused
// instead of waiting for ever, and Close waits for the outer one.
func TestGateNested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		if err := g.Enter(); err != nil {
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
		if err := g.Enter(); !errors.Is(err, store.ErrClosed) {
			t.Errorf("nested call: %v, want ErrClosed", err)
		}
		g.Leave()
		synctest.Wait()
		if !closed || g.Close() {
			t.Error("Close did not return after the last call, or a second one thinks it is the first")
		}
	})
}
