package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/store"
)

// countingTable counts the reads of a table.
type countingTable struct {
	store.Table
	reads atomic.Int64
	err   error // of reads, if not nil
}

func (c *countingTable) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	c.reads.Add(1)
	if c.err != nil {
		return nil, c.err
	}
	return c.Table.Read(ctx, row, sel...)
}

// TestReadAhead: what was read ahead is what another reader finds: short and long values, missing
// cells, and the transaction's own writes. Nothing of it is read from the table again.
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

// TestReadAheadOfLocks: a row with a lock is left to the read that asks for it, which resolves
// the lock. Its neighbours are read ahead.
func TestReadAheadOfLocks(t *testing.T) {
	ctx := t.Context()
	table, o := &countingTable{Table: sharedTable(t)}, &office{}
	crash := func(step string, _ Cell) error {
		if step == stepCommitTS {
			return ErrCrash
		}
		return nil
	}
	dying, desk := openShared(t, table, o, Options{Step: crash})
	db, _ := openShared(t, table, o, Options{LockTTL: time.Hour})
	w := mustBegin(t, dying)
	w.Set("row 1", app("a"), []byte("never committed"))
	if _, err := w.Commit(ctx); !errors.Is(err, ErrCrash) {
		t.Fatal(err)
	}
	desk.die()
	tx := mustBegin(t, db)
	defer tx.Rollback()
	rows := []string{"row 0", "row 1", "row 2"}
	if err := tx.ReadAhead(ctx, Ahead{rows, []Column{app("a"), app("b")}}); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		before := table.reads.Load()
		v, err := tx.Get(ctx, row, app("a"))
		if err != nil || v.Exists {
			t.Errorf("%s: %+v, %v", row, v, err)
		}
		if again := table.reads.Load() > before; again != (row == "row 1") {
			t.Errorf("%s was read again: %t", row, again)
		}
	}
}

// TestReadAheadFails: an error of the store reaches the caller, names a row, and leaves the
// transaction usable.
func TestReadAheadFails(t *testing.T) {
	ctx := t.Context()
	table := &countingTable{Table: sharedTable(t)}
	db, _ := openShared(t, table, &office{}, Options{})
	tx := mustBegin(t, db)
	defer tx.Rollback()
	away := errors.New("no network")
	table.err = away
	err := tx.ReadAhead(ctx, Ahead{[]string{"row 0"}, []Column{app("a")}})
	table.err = nil
	if !errors.Is(err, away) || !strings.Contains(err.Error(), `"row 0"`) {
		t.Errorf("error %v", err)
	}
	if _, err := tx.Get(ctx, "row 0", app("a")); err != nil {
		t.Error(err)
	}
}

// TestReadAheadInOneProcess: with a table that is not shared nothing is read.
func TestReadAheadInOneProcess(t *testing.T) {
	table := &countingTable{Table: sharedTable(t)}
	db := open(t, table, Options{})
	tx := mustBegin(t, db)
	defer tx.Rollback()
	before := table.reads.Load()
	err := tx.ReadAhead(t.Context(), Ahead{[]string{"row 0"}, []Column{app("a")}})
	if n := table.reads.Load() - before; n != 0 || err != nil {
		t.Errorf("%d reads, %v", n, err)
	}
}
