package txn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/faulty"
	"github.com/webindexer/indexer/store/mem"
)

// openCounted opens a DB on a table without capabilities and counts guarded mutations.
func openCounted(t *testing.T, limits store.Limits) (*DB, *faulty.Probe) {
	t.Helper()
	table, err := mem.New(Groups("app"), mem.Options{TwoPhaseOnly: true, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	wrapped, probe := faulty.Wrap(table, faulty.Plan{Kinds: faulty.Mutate})
	db := open(t, wrapped, Options{})
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		closeTable(t, wrapped)
	})
	return db, probe
}

// setRow writes n columns of a row.
func setRow(tx *Txn, row string, n int, value []byte) {
	for i := range n {
		tx.Set(row, app(fmt.Sprintf("c%02d", i)), value)
	}
}

func wantRow(t *testing.T, db *DB, row string, n int) {
	t.Helper()
	tx := mustBegin(t, db)
	defer tx.Rollback()
	if cols, err := tx.GetRow(context.Background(), row, "app"); err != nil || len(cols) != n {
		t.Errorf("row %s has %d columns, %v; want %d", row, len(cols), err, n)
	}
}

// TestPrewriteByRow: the cells of a row are locked together, up to a bound in number and
// bytes, and one by one if the table finds them too large together. One mutation more is the
// commit point.
func TestPrewriteByRow(t *testing.T) {
	large := make([]byte, maxRowBytes/2)
	for _, tc := range []struct {
		name      string
		rows, n   int
		value     []byte
		limits    store.Limits
		mutations int
	}{
		{"one row", 1, 5, nil, store.Limits{}, 1 + 1},
		{"three rows", 3, 5, nil, store.Limits{}, 3 + 1},
		{"many cells", 1, maxRowCells + 1, nil, store.Limits{}, 2 + 1},
		{"many bytes", 1, 4, large, store.Limits{}, 2 + 1},
		{"too large together", 2, 3, make([]byte, 300), store.Limits{MaxBatchBytes: 700}, 2*(1+3) + 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db, probe := openCounted(t, tc.limits)
			before := probe.Operations()
			if _, err := db.Run(context.Background(), func(tx *Txn) error {
				for r := range tc.rows {
					setRow(tx, fmt.Sprint("row", r), tc.n, tc.value)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if n := probe.Operations() - before; n != tc.mutations {
				t.Errorf("%d guarded mutations, want %d", n, tc.mutations)
			}
			for r := range tc.rows {
				wantRow(t, db, fmt.Sprint("row", r), tc.n)
			}
		})
	}
}

// TestPrewriteRowRefused: one cell of a row was written meanwhile. No other cell of the row is
// locked then, and what was locked in other rows is undone.
func TestPrewriteRowRefused(t *testing.T) {
	ctx := context.Background()
	db, _ := openCounted(t, store.Limits{})
	loser := mustBegin(t, db)
	setRow(loser, "first", 3, []byte("loser"))
	setRow(loser, "second", 3, []byte("loser"))
	if _, err := db.Run(ctx, func(tx *Txn) error {
		tx.Set("second", app("c01"), []byte("winner"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	_, err := loser.Commit(ctx)
	conflict, ok := errors.AsType[*ConflictError](err)
	if !ok || conflict.Cell != (Cell{"second", app("c01")}) {
		t.Errorf("Commit: %v, want a conflict at c01", err)
	}
	if _, err := db.table.Scan(ctx, store.Range{Group: lockGroup}, func(c store.Cell) error {
		t.Errorf("row %s: %q is locked", c.Row, c.Column)
		return nil
	}); err != nil {
		t.Error(err)
	}
	wantRow(t, db, "first", 0)
	wantRow(t, db, "second", 1)
	cells, err := db.table.Read(ctx, []byte("second"), store.Selector{Group: "app", Column: recordColumn(kindRollback, ""), Prefix: true})
	if err != nil || len(cells) > 0 {
		t.Errorf("the row that was never locked has %d rollback records, %v", len(cells), err)
	}
}

// crowdedTable is a table whose guarded mutations of secondary rows begin only when as many as
// are allowed are under way.
type crowdedTable struct {
	store.Table
	want    int
	mu      sync.Mutex
	rows    []string
	arrived int
	full    chan struct{}
}

func (c *crowdedTable) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	c.mu.Lock()
	c.rows = append(c.rows, string(m.Row))
	first := len(c.rows) == 1
	if !first {
		if c.arrived++; c.arrived == c.want {
			close(c.full)
		}
	}
	c.mu.Unlock()
	if !first {
		select {
		case <-c.full:
		case <-ctx.Done():
			return store.Result{}, context.Cause(ctx)
		}
	}
	return c.Table.Mutate(ctx, m)
}

// TestPrewriteAtOnce: the primary's row is locked alone, and then the other rows at the same
// time. One of them is refused at first: nothing stays locked.
func TestPrewriteAtOnce(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	db, _ := openCounted(t, store.Limits{})
	commit := func(refused bool) error {
		tx := mustBegin(t, db)
		defer tx.Rollback()
		for r := range prewritesAtOnce + 1 {
			setRow(tx, fmt.Sprint("row", r), 1, []byte("mine"))
		}
		if refused {
			if _, err := db.Run(ctx, func(tx *Txn) error {
				setRow(tx, "row3", 1, []byte("winner"))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		table := &crowdedTable{Table: db.table, want: prewritesAtOnce, full: make(chan struct{})}
		db.table = table
		defer func() { db.table = table.Table }()
		_, err := tx.Commit(ctx)
		if table.rows[0] != "row0" {
			t.Errorf("%s was locked before the primary's row", table.rows[0])
		}
		return err
	}
	if err := commit(true); !errors.Is(err, ErrConflict) {
		t.Errorf("Commit: %v, want a conflict", err)
	}
	if _, err := db.table.Scan(ctx, store.Range{Group: lockGroup}, func(c store.Cell) error {
		t.Errorf("row %s: %q is locked", c.Row, c.Column)
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := commit(false); err != nil {
		t.Error(err)
	}
	wantRow(t, db, fmt.Sprint("row", prewritesAtOnce), 1)
}
