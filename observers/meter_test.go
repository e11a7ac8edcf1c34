package observers_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// meteredTable notes the size of the largest transaction, in mutations, and how many cells
// are read: in all, and of each observer in one run.
type meteredTable struct {
	store.Table
	store.Committer
	store.Snapshotter

	mu      sync.Mutex
	largest int            // transaction since the last reset
	writes  map[string]int // the same by observer
	reads   map[string]int // the most cells that a run has read
	all     map[string]int // cells that all runs have read
	runs    map[string]int
	pending meteredRun // since the last run has ended
}

type meteredRun struct{ writes, reads int }

func newMeteredTable(t *testing.T) *meteredTable {
	t.Helper()
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return meter(table)
}

func meter(table store.Table) *meteredTable {
	m := &meteredTable{Table: table, Committer: table.(store.Committer), Snapshotter: table.(store.Snapshotter)}
	m.reset()
	return m
}

// reset forgets what was noted.
func (m *meteredTable) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.largest, m.pending = 0, meteredRun{}
	m.writes, m.reads, m.all, m.runs = make(map[string]int), make(map[string]int), make(map[string]int), make(map[string]int)
}

// loaded says that no observer did what was noted since the last run.
func (m *meteredTable) loaded() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending = meteredRun{}
}

// events notes runs. There must be only one at a time.
func (m *meteredTable) events() notify.Events {
	return notify.Events{Ran: func(observer string, _ int, _ time.Duration) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.writes[observer] = max(m.writes[observer], m.pending.writes)
		m.reads[observer] = max(m.reads[observer], m.pending.reads)
		m.all[observer] += m.pending.reads
		m.runs[observer]++
		m.pending = meteredRun{}
	}}
}

// atMost fails the test for each observer with a transaction above a bound; except has
// bounds of some.
func (m *meteredTable) atMost(t *testing.T, bound int, except map[string]int) {
	t.Helper()
	for observer, n := range m.writes {
		most, ok := except[observer]
		if !ok {
			most = bound
		}
		if n > most {
			t.Errorf("a transaction of %s of %d mutations, want at most %d", observer, n, most)
		}
	}
}

func (m *meteredTable) Commit(ctx context.Context, rows []store.RowMutation) (uint64, store.Result, error) {
	n := 0
	for _, r := range rows {
		n += len(r.Mutations)
	}
	m.mu.Lock()
	m.largest, m.pending.writes = max(m.largest, n), max(m.pending.writes, n)
	m.mu.Unlock()
	return m.Committer.Commit(ctx, rows)
}

func (m *meteredTable) Snapshot() store.Snapshot { return meteredSnapshot{m.Snapshotter.Snapshot(), m} }

// meteredSnapshot counts the cells that are read, including look-ups of absent ones.
type meteredSnapshot struct {
	store.Snapshot
	m *meteredTable
}

func (s meteredSnapshot) read(n int) {
	s.m.mu.Lock()
	s.m.pending.reads += n
	s.m.mu.Unlock()
}

func (s meteredSnapshot) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	cells, err := s.Snapshot.Read(ctx, row, sel...)
	s.read(max(1, len(cells)))
	return cells, err
}

func (s meteredSnapshot) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	n := 1
	next, err := s.Snapshot.Scan(ctx, r, func(c store.Cell) error {
		n++
		return fn(c)
	})
	s.read(n)
	return next, err
}
