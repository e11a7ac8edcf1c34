package postgres

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// table implements store.Table.
type table struct {
	opts    Options
	name    string // of the schema
	server  string // for messages
	checker engine.Checker
	groups  []group // as in checker.Schema
	// mutateSQL calls the function of mutate.sql.tmpl.
	mutateSQL string
	gate      engine.Gate
	closing   chan struct{}
	close     sync.Once

	calls *pgxpool.Pool
	scans *pgxpool.Pool
	reads readQueue

	counters engine.Counters
}

// Limits implements store.Table.
func (t *table) Limits() store.Limits { return t.checker.Limits }

// Groups implements store.Table.
func (t *table) Groups() []store.GroupSpec { return t.checker.Schema.Specs() }

// Close implements store.Table. Calls that wait for the server to come back give up.
func (t *table) Close() error {
	t.close.Do(func() { close(t.closing) })
	if t.gate.Close() {
		t.reads.senders.Wait()
		t.closePools()
	}
	return nil
}

func (t *table) closePools() {
	t.calls.Close()
	t.scans.Close()
}

// Mutate implements store.Table.
func (t *table) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return store.Result{}, err
	}
	defer t.gate.Leave()
	if err := t.checker.Row(&m); err != nil {
		return store.Result{}, err
	}
	c := newCall(t, 1)
	c.add(&m)
	c.guard(&m)
	t.counters.Guarded.Add(1)
	return c.run(ctx, guarded)
}

// applyRows and applyBytes bound what one transaction of Apply writes. It holds an advisory lock
// for each row, and the server has memory for about 64 locks per connection.
const (
	applyRows  = 32
	applyBytes = 1 << 20
)

// Apply implements store.Table.
func (t *table) Apply(ctx context.Context, rows []store.RowMutation) error {
	if err := t.gate.Enter(ctx); err != nil {
		return err
	}
	defer t.gate.Leave()
	if err := t.checker.Apply(rows); err != nil {
		return err
	}
	for len(rows) > 0 {
		n, size := 0, 0
		for n < len(rows) && n < applyRows && (n == 0 || size+t.checker.Size(&rows[n]) <= applyBytes) {
			size += t.checker.Size(&rows[n])
			n++
		}
		c := newCall(t, n)
		for i := range n {
			c.add(&rows[i])
		}
		t.counters.Writes.Add(int64(n))
		t.counters.WriteRequests.Add(1)
		if _, err := c.run(ctx, writing); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
