package txn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/store"
)

// countingTable counts the reads of a table.
type countingTable struct {
	store.Table
	reads atomic.Int64
}

func (c *countingTable) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	c.reads.Add(1)
	return c.Table.Read(ctx, row, sel...)
}

// TestReadAhead: what was read ahead is what another reader finds: short and long values, missing
// cells, and the transaction's own writes. Nothing of it is read from the table again. (Locks are
// in TestBankOfProcesses.)
func TestReadAhead(t *testing.T) {
	ctx := t.Context()
	table := &countingTable{Table: sharedTable(t)}
	db, _ := openShared(t, table, &office{}, Options{})
	col, other := app("a"), app("b")
	var rows []string
	w := mustBegin(t, db)
	for i := range 200 {
		row := fmt.Sprintf("row %03d", i)
		rows = append(rows, row)
		switch i % 4 {
		case 0:
			w.Set(row, col, []byte(row))
		case 1:
			w.Set(row, col, []byte(strings.Repeat(row, 100))) // in a cell of its own
			w.Set(row, other, []byte("other"))
		case 2:
			w.Set(row, other, []byte("other"))
		}
	}
	if _, err := w.Commit(ctx); err != nil {
		t.Fatal(err)
	}

	plain, ahead := mustBegin(t, db), mustBegin(t, db)
	for _, tx := range []*Txn{plain, ahead} {
		tx.Set("row 004", col, []byte("own"))
	}
	if err := ahead.ReadAhead(ctx, Ahead{rows[:150], []Column{col, other}}, Ahead{rows[150:], []Column{other, col}}); err != nil {
		t.Fatal(err)
	}
	before := table.reads.Load()
	var got, want []string
	for i, row := range rows {
		for _, c := range []Column{col, other} {
			read := ahead.Get
			switch i % 3 {
			case 1:
				read = ahead.GetOnce
			case 2:
				if err := ahead.Prefetch(ctx, row, col, other); err != nil {
					t.Fatal(err)
				}
			}
			v, err := read(ctx, row, c)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %s: %q at %d, %t", row, c, v.Data, v.TS, v.Exists))
		}
	}
	if n := table.reads.Load() - before; n != 0 {
		t.Errorf("%d reads of the table for what was read ahead", n)
	}
	for _, row := range rows {
		for _, c := range []Column{col, other} {
			v, err := plain.Get(ctx, row, c)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%s %s: %q at %d, %t", row, c, v.Data, v.TS, v.Exists))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("read ahead:\n%s\nwithout:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// GetOnce has forgotten what it read, and the next ReadAhead what nobody asked for.
	if err := ahead.ReadAhead(ctx, Ahead{rows[:4], []Column{other}}); err != nil {
		t.Fatal(err)
	}
	if len(ahead.ahead) > 4 {
		t.Errorf("%d cells are remembered", len(ahead.ahead))
	}
	ahead.Rollback()
	plain.Rollback()
}
