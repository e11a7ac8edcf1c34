package txn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestScanOfLongValues reads few and many values that lie apart from their write records, of rows
// that were written more than once. If the bytes of one are gone, the scan says which.
func TestScanOfLongValues(t *testing.T) {
	for _, rows := range []int{fewApart, fewApart + 1, scanPage + 1} {
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			eachSetting(t, func(t *testing.T, table store.Table, _ Mode) {
				ctx := context.Background()
				db := open(t, table, Options{Mode: TwoPhase})
				defer db.Close()
				value := func(version, i int) string { return fmt.Sprintf("%d of %d%*d", i, version, inlineLimit, 0) }
				for version := range 3 {
					run(t, db, func(tx *Txn) {
						for i := range rows {
							tx.Set(fmt.Sprintf("row%04d", i), app("v"), []byte(value(version, i)))
						}
					})
				}
				tx := mustBegin(t, db)
				defer tx.Rollback()
				n := 0
				err := tx.Scan(ctx, "app", "", "", func(row string, cols []Version) error {
					if want := value(2, n); len(cols) != 1 || string(cols[0].Data) != want {
						t.Errorf("%s: %d columns, want %.20q", row, len(cols), want)
					}
					n++
					return nil
				})
				if err != nil || n != rows {
					t.Errorf("%d rows, %v", n, err)
				}
				lose(t, table, "row0003")
				again := mustBegin(t, db)
				defer again.Rollback()
				err = again.Scan(ctx, "app", "", "", func(string, []Version) error { return nil })
				if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "row0003") {
					t.Errorf("without the bytes of a value: %v", err)
				}
			})
		})
	}
}

// lose removes the data cells of the column v of a row.
func lose(t *testing.T, table store.Table, row string) {
	t.Helper()
	err := table.Apply(context.Background(), []store.RowMutation{{Row: []byte(row), Mutations: []store.Mutation{
		{Op: store.DeleteUpTo, Group: "app", Column: recordColumn(kindData, "v"), TS: 1 << 60},
	}}})
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkScanOfLongValues scans rows whose values lie apart.
func BenchmarkScanOfLongValues(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			table := e.open(b, Groups("app"))
			defer closeTable(b, table)
			db := open(b, table, Options{Mode: TwoPhase})
			defer db.Close()
			for from := 0; from < 10_000; from += 1000 {
				_, err := db.Run(b.Context(), func(tx *Txn) error {
					for i := from; i < from+1000; i++ {
						tx.Set(fmt.Sprintf("row%05d", i), app("v"), make([]byte, 2*inlineLimit))
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				tx, err := db.Begin(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if err := tx.Scan(b.Context(), "app", "", "", func(string, []Version) error { return nil }); err != nil {
					b.Fatal(err)
				}
				tx.Rollback()
			}
		})
	}
}
