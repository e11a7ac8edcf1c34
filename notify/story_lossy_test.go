package notify

import (
	"context"
	"errors"
	"sync"

	"github.com/webindexer/indexer/store"
)

// capable is a table with everything.
type capable interface {
	store.Table
	store.Snapshotter
	store.Committer
}

// lossy is a table whose next Mutate or Commit can be made to end badly:
//
//	lost  it happens, and the caller is not told
//	none  it does not happen, and the caller is not told
//	late  it happens at arrive, and the caller gets an error at once
type lossy struct {
	table
	mu   sync.Mutex
	fate string
	held []func()
}

type table = capable // embedded under this name

var errNoAnswer = errors.New("no answer")

func (l *lossy) next(fate string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fate = fate
}

func (l *lossy) arrive() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, op := range l.held {
		op()
	}
	l.held = nil
}

// write lets op happen, or not. It reports whether there is an answer.
func (l *lossy) write(op func()) bool {
	l.mu.Lock()
	fate := l.fate
	l.fate = ""
	if fate == "late" {
		l.held = append(l.held, op)
	}
	l.mu.Unlock()
	if fate == "" || fate == "lost" {
		op()
	}
	return fate == ""
}

func (l *lossy) Mutate(ctx context.Context, m store.RowMutation) (res store.Result, err error) {
	if !l.write(func() { res, err = l.table.Mutate(context.WithoutCancel(ctx), m) }) {
		return store.Result{Outcome: store.Unknown}, errNoAnswer
	}
	return res, err
}

func (l *lossy) Commit(ctx context.Context, rows []store.RowMutation) (ts uint64, res store.Result, err error) {
	if !l.write(func() { ts, res, err = l.table.Commit(context.WithoutCancel(ctx), rows) }) {
		return 0, store.Result{Outcome: store.Unknown}, errNoAnswer
	}
	return ts, res, err
}
