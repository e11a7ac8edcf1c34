package lease

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
)

// lossy is the table of a process that loses its connection.
type lossy struct {
	store.Table
	loses func(store.RowMutation) bool // whether the answer to a write is lost; nil: none is
	away  bool                         // the next read fails
}

func (l *lossy) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	res, err := l.Table.Mutate(ctx, m)
	if l.loses != nil && l.loses(m) {
		l.away = true
		return store.Result{Outcome: store.Unknown}, store.ErrUnavailable
	}
	return res, err
}

func (l *lossy) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if l.away {
		l.away = false
		return nil, store.ErrUnavailable
	}
	return l.Table.Read(ctx, row, sel...)
}

// TestAskUnknown: the request is in the table, and its sender does not learn that. It must not leave
// the holder with a task for which no process waits.
func TestAskUnknown(t *testing.T) {
	f := newFleet(t)
	table := &lossy{Table: f.table}
	f.table = table
	asker := f.join(Options{})
	table.loses = func(m store.RowMutation) bool {
		if m.Require == nil { // the commit point has a guard of its lock
			return false
		}
		table.loses = nil
		return true
	}
	if _, err := asker.ask(t.Context(), Question{}); err == nil || table.loses != nil {
		t.Errorf("without an answer: %v", err)
	}
	if n := f.requests(); n != 0 {
		t.Errorf("%d requests are left", n)
	}
	f.stop(asker)
}

// TestAskAfterTheResult: an asker that has the result returns it, although it cannot remove its request.
func TestAskAfterTheResult(t *testing.T) {
	f := newFleet(t)
	table := &lossy{Table: f.table}
	release := make(chan struct{})
	h := f.holder(func(context.Context, func(int)) (any, error) {
		<-release
		return "done", nil
	})
	f.table = table
	asker := f.join(Options{})
	begun := func(Place) {
		table.loses = func(store.RowMutation) bool { return true }
		close(release)
	}
	if got, err := asker.ask(t.Context(), Question{Holder: begun}); got != `"done"` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	f.stop(h)
}

// TestAskWhileSilent: an asker that shows no sign of life for a while, and that no process finds
// dead, goes on waiting.
func TestAskWhileSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		begun, release := make(chan struct{}), make(chan struct{})
		h := f.holder(func(context.Context, func(int)) (any, error) {
			close(begun)
			<-release
			return "done", nil
		})
		asker := f.join(Options{})
		go func() {
			<-begun
			asker.process.SetSilent(true)
			time.Sleep(time.Second)
			asker.process.SetSilent(false)
			close(release)
		}()
		if got, err := asker.ask(t.Context(), Question{}); got != `"done"` || err != nil {
			t.Errorf("%s, %v", got, err)
		}
		f.stop(h, asker)
	})
}
