package badgerdb

import (
	"context"
	"sync/atomic"

	"github.com/webindexer/indexer/store"
)

// Snapshot implements store.Snapshotter. It never waits for writers. A snapshot
// may be used by several goroutines; until it is closed, Badger keeps every
// version that it can see.
func (db *DB) Snapshot() store.Snapshot {
	return &snapshot{db: db, view: db.views.acquire()}
}

type snapshot struct {
	db     *DB
	view   *view
	closed atomic.Bool
}

func (s *snapshot) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if err := s.db.enter(ctx); err != nil {
		return nil, err
	}
	defer s.db.gate.Leave()
	return s.view.read(ctx, row, sel)
}

func (s *snapshot) Scan(ctx context.Context, rg store.Range, fn func(store.Cell) error) ([]byte, error) {
	if err := s.db.enter(ctx); err != nil {
		return nil, err
	}
	defer s.db.gate.Leave()
	return s.view.scan(ctx, rg, false, fn)
}

// Close releases the snapshot. Closing it again does nothing.
func (s *snapshot) Close() {
	if !s.closed.Swap(true) {
		s.db.views.release(s.view)
	}
}
