package mem

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// capable adds the capabilities of an engine that holds all rows in one place.
type capable struct {
	*table
	clock store.Clock // guarded by table.writing
}

// UseClock implements store.Committer.
func (c *capable) UseClock(clock store.Clock) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.clock = clock
}

// Commit implements store.Committer. Each commit is a group of one: Reserve(1),
// publish, Visible, all under the writers' lock, so that they alternate.
func (c *capable) Commit(ctx context.Context, rows []store.RowMutation) (uint64, store.Result, error) {
	if err := c.gate.Enter(ctx); err != nil {
		return 0, store.Result{}, err
	}
	defer c.gate.Leave()
	if err := c.checker.Commit(rows); err != nil {
		return 0, store.Result{}, err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.clock == nil {
		return 0, store.Result{}, errors.New("store: Commit before UseClock")
	}
	s := c.current.Load()
	for i := range rows {
		if res, no := s.refused(&rows[i]); no {
			return 0, res, nil
		}
	}
	ts, err := c.clock.Reserve(1)
	if err != nil {
		return 0, store.Result{}, fmt.Errorf("%w: no commit timestamp: %w", store.ErrNotDone, err)
	}
	s = s.clone()
	for i := range rows {
		s.apply(&rows[i], ts)
	}
	c.current.Store(s)
	c.clock.Visible()
	return ts, store.Result{Outcome: store.Applied}, nil
}

// Snapshot implements store.Snapshotter.
func (c *capable) Snapshot() store.Snapshot {
	return &snapshot{table: c.table, state: c.current.Load()}
}

// snapshot is a state that is kept.
type snapshot struct {
	table *table
	state *state
}

func (s *snapshot) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	return s.table.readAt(ctx, s.state, row, sel)
}

func (s *snapshot) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	return s.table.scanAt(ctx, s.state, r, fn)
}

// Close releases nothing but memory.
func (s *snapshot) Close() {}
