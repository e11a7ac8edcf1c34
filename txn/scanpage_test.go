package txn

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/store"
)

// weighed is a table that remembers how many bytes of values a scan has passed on at most.
type weighed struct {
	store.Table
	most  int
	after func() // called after each scan; may be nil
}

func (w *weighed) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	size := 0
	next, err := w.Table.Scan(ctx, r, func(c store.Cell) error {
		err := fn(c)
		if err == nil {
			size += len(c.Value)
		}
		return err
	})
	w.most = max(w.most, size)
	if w.after != nil {
		w.after()
	}
	return next, err
}

// setLarge writes rows that fill two pages and a half with two values each.
func setLarge(t *testing.T, db *DB) (rows int) {
	t.Helper()
	const size = scanBytes / 8
	rows = 10
	for i := range rows {
		run(t, db, func(tx *Txn) {
			tx.Set(fmt.Sprint("row ", i), app("a"), append(make([]byte, size), byte(i)))
			tx.Set(fmt.Sprint("row ", i), app("b"), append(make([]byte, size), byte(i)))
		})
	}
	return rows
}

// TestScanOfLargeValues: a scan keeps few large values in memory at a time, whether they lie in
// their write records or apart, and finds all of them.
func TestScanOfLargeValues(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			table := openMem(t, Groups("app"))
			defer closeTable(t, table)
			db := open(t, table, Options{Mode: m.mode})
			rows := setLarge(t, db)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			w := &weighed{Table: table}
			db = open(t, w, Options{Mode: TwoPhase})
			defer db.Close()
			tx := mustBegin(t, db)
			defer tx.Rollback()
			found := 0
			err := tx.Scan(t.Context(), "app", "", "", func(row string, cols []Version) error {
				for _, c := range cols {
					if row != fmt.Sprint("row ", found) || len(c.Data) != scanBytes/8+1 || c.Data[scanBytes/8] != byte(found) {
						t.Errorf("row %d is %q, with %d bytes in %s", found, row, len(c.Data), c.Name)
					}
				}
				if len(cols) != 2 {
					t.Errorf("%s has %d columns", row, len(cols))
				}
				found++
				return nil
			})
			if err != nil || found != rows {
				t.Errorf("%d rows of %d, %v", found, rows, err)
			}
			if most := scanBytes + scanBytes/4; w.most > most {
				t.Errorf("a page of %d bytes, want at most %d", w.most, most)
			}
		})
	}
}

// TestScanOfLargeValuesByTheDead: a process that others find dead passes on no row of a page that it
// has not read to the end.
func TestScanOfLargeValuesByTheDead(t *testing.T) {
	w, coordinator := &weighed{Table: sharedTable(t)}, sharedtest.New()
	db, process := openShared(t, w, coordinator, Options{})
	setLarge(t, db)
	tx := mustBegin(t, db)
	defer tx.Rollback()
	w.after = func() {
		if w.most >= scanBytes { // a page of values
			process.Die()
		}
	}
	err := tx.Scan(t.Context(), "app", "", "", func(row string, _ []Version) error {
		t.Errorf("a dead process sees %s", row)
		return nil
	})
	if !errors.Is(err, ErrConflict) {
		t.Errorf("scan by a dead process: %v", err)
	}
}

// TestScanOfLargeValuesWhileSilent: a transaction that only reads also outlasts a time without signs
// of life at the end of a page of values.
func TestScanOfLargeValuesWhileSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, coordinator := &weighed{Table: sharedTable(t)}, sharedtest.New()
		db, process := openShared(t, w, coordinator, Options{})
		rows := setLarge(t, db)
		tx := db.At(setC(t, db, "one"))
		defer tx.Rollback()
		w.after = func() {
			if w.most >= scanBytes { // a page of values
				w.after = nil
				process.SetSilent(true)
				time.AfterFunc(time.Second-aliveEvery/2, func() { process.SetSilent(false) })
			}
		}
		found := 0
		err := tx.Scan(t.Context(), "app", "row ", "", func(string, []Version) error { found++; return nil })
		if err != nil || found < rows || w.after != nil {
			t.Errorf("%d rows of %d, %v", found, rows, err)
		}
	})
}
