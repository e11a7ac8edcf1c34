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

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/store"
)

// countingTable counts the reads and scans of a table.
type countingTable struct {
	store.Table
	reads atomic.Int64
	scans atomic.Int64
	err   error // of reads and scans, if not nil
}

func (c *countingTable) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	c.reads.Add(1)
	if c.err != nil {
		return nil, c.err
	}
	return c.Table.Read(ctx, row, sel...)
}

func (c *countingTable) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	c.scans.Add(1)
	if c.err != nil {
		return nil, c.err
	}
	return c.Table.Scan(ctx, r, fn)
}

// TestReadAhead: what was read ahead is what another reader finds: short and long values, missing
// cells, and the transaction's own writes. Nothing of it is read from the table again.
func TestReadAhead(t *testing.T) {
	ctx := t.Context()
	table := &countingTable{Table: sharedTable(t)}
	db, _ := openShared(t, table, sharedtest.New(), Options{})
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

	// GetOnce does not cache what it reads, and the next ReadAhead drops what was not
	// read.
	if err := ahead.ReadAhead(ctx, Ahead{rows[:4], []Column{other}}); err != nil {
		t.Fatal(err)
	}
	if len(ahead.ahead) > 4 {
		t.Errorf("%d cells are remembered", len(ahead.ahead))
	}
	ahead.Rollback()
	plain.Rollback()
}

// afterCrash is a process on a table where another one has died at a step of a commit to these rows.
func afterCrash(t *testing.T, table store.Table, at string, rows ...string) *DB {
	t.Helper()
	coordinator := sharedtest.New()
	crash := func(step string, _ Cell) error {
		if step == at {
			return ErrCrash
		}
		return nil
	}
	dying, process := openShared(t, table, coordinator, Options{Step: crash})
	db, _ := openShared(t, table, coordinator, Options{LockTTL: time.Hour})
	w := mustBegin(t, dying)
	for _, row := range rows {
		w.Set(row, app("a"), []byte(row))
	}
	if _, err := w.Commit(t.Context()); !errors.Is(err, ErrCrash) {
		t.Fatal(err)
	}
	process.Die()
	return db
}

// TestReadAheadOfLocks: ReadAhead skips a row with a lock, and the later read resolves the
// lock. Its neighbours are read ahead.
func TestReadAheadOfLocks(t *testing.T) {
	ctx := t.Context()
	table := &countingTable{Table: sharedTable(t)}
	db := afterCrash(t, table, stepCommitTS, "row 1") // which was never committed
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
	db, _ := openShared(t, table, sharedtest.New(), Options{})
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

// TestScanAhead: a scan of what was scanned ahead finds what another scan finds, with the
// transaction's own writes, and asks the table for nothing, once.
func TestScanAhead(t *testing.T) {
	ctx := t.Context()
	table := &countingTable{Table: sharedTable(t)}
	db, _ := openShared(t, table, sharedtest.New(), Options{})
	col := app("a")
	w := mustBegin(t, db)
	for i := range 40 {
		w.Set(fmt.Sprintf("some %03d", i), col, []byte(strings.Repeat("v", 1+i%2*1000)))
	}
	for i := range scanPage + 1 {
		w.Set(fmt.Sprintf("many %04d", i), col, nil)
	}
	w.Set("next", col, nil)
	if _, err := w.Commit(ctx); err != nil {
		t.Fatal(err)
	}

	plain, ahead := mustBegin(t, db), mustBegin(t, db)
	defer plain.Rollback()
	defer ahead.Rollback()
	prefixes := []string{"many", "none", "some"}
	rows, err := ahead.ScanAhead(ctx, col.Group, prefixes)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 40 || rows[0] != "some 000" || rows[39] != "some 039" {
		t.Errorf("rows that are remembered: %q", rows)
	}
	for _, tx := range []*Txn{plain, ahead} { // a scan has them, whenever they were made
		tx.Set("none but ours", col, []byte("own"))
		tx.Delete("some 001", col)
		tx.Set("some 0015", col, []byte("own"))
	}
	scan := func(tx *Txn, prefix string) (found []string) {
		err := tx.ScanPrefix(ctx, col.Group, prefix, func(row string, cols []Version) error {
			found = append(found, fmt.Sprintf("%s %s %q", row, cols[0].Name, cols[0].Data))
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return found
	}
	for _, prefix := range prefixes {
		before := table.scans.Load()
		got := scan(ahead, prefix)
		if asked := table.scans.Load() > before; asked != (prefix == "many") {
			t.Errorf("%s: the table was asked: %t", prefix, asked)
		}
		if want := scan(plain, prefix); !slices.Equal(got, want) {
			t.Errorf("%s: scanned ahead %q, without %q", prefix, got, want)
		}
	}
	before := table.scans.Load()
	if scan(ahead, "some"); table.scans.Load() == before {
		t.Error("a range that was scanned is still remembered")
	}
}

// TestScanAheadOfLocks: ScanAhead skips a range with a lock, and the later scan
// resolves the lock.
func TestScanAheadOfLocks(t *testing.T) {
	ctx := t.Context()
	db := afterCrash(t, sharedTable(t), stepPrimaryCommitted, "a 1", "b 1") // committed, and b is still locked
	tx := mustBegin(t, db)
	defer tx.Rollback()
	rows, err := tx.ScanAhead(ctx, "app", []string{"a", "b"})
	if err != nil || !slices.Equal(rows, []string{"a 1"}) {
		t.Errorf("scanned ahead: %q, %v", rows, err)
	}
	var found []string
	err = tx.ScanPrefix(ctx, "app", "b", func(row string, _ []Version) error {
		found = append(found, row)
		return nil
	})
	if err != nil || !slices.Equal(found, []string{"b 1"}) {
		t.Errorf("found %q, %v", found, err)
	}
}

// TestScanAheadFails: an error of the store reaches the caller, names a prefix, and leaves the
// transaction usable.
func TestScanAheadFails(t *testing.T) {
	ctx := t.Context()
	table := &countingTable{Table: sharedTable(t)}
	db, _ := openShared(t, table, sharedtest.New(), Options{})
	tx := mustBegin(t, db)
	defer tx.Rollback()
	away := errors.New("no network")
	table.err = away
	_, err := tx.ScanAhead(ctx, "app", []string{"row"})
	table.err = nil
	if !errors.Is(err, away) || !strings.Contains(err.Error(), `"row"`) {
		t.Errorf("error %v", err)
	}
	if err := tx.ScanPrefix(ctx, "app", "row", nil); err != nil {
		t.Error(err)
	}
}
