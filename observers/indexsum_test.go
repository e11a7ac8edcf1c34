package observers

import (
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestIndexSumMoves writes the sum in many transactions. Moving rows into the cell changes
// where the sum is, and not the sum.
func TestIndexSumMoves(t *testing.T) {
	db := bare(t)
	write(t, db, func(tx *txn.Txn) error {
		return SetIndexSum(t.Context(), tx, index.State{Documents: 10, Sum: 7})
	})
	want := index.State{Documents: 10, Sum: 7}
	rows := 0
	add := func(s indexSum) (folds bool) {
		write(t, db, func(tx *txn.Txn) error {
			folds = tx.Start()%sumFold == 0
			return s.write(t.Context(), tx)
		})
		want.Documents += s.Documents
		want.Sum += index.Sum(s.Sum)
		if rows++; folds {
			rows = 1 + max(rows-1-sumMoved, 0)
		}
		return folds
	}
	check := func(when string) {
		t.Helper()
		write(t, db, func(tx *txn.Txn) error {
			got, kept, err := ReadIndexSum(t.Context(), tx)
			if err != nil || !kept || got != want {
				t.Errorf("%s: sum %+v, %t, %v; want %+v", when, got, kept, err, want)
			}
			stored := 0
			err = eachSumPart(t.Context(), tx, func(string, schema.StoredIndexSum) error { stored++; return nil })
			if err != nil || stored != rows {
				t.Errorf("%s: %d rows, %v; want %d", when, stored, err, rows)
			}
			return nil
		})
	}
	fold := func() {
		write(t, db, func(tx *txn.Txn) error { return foldIndexSum(t.Context(), tx) })
		rows = max(rows-sumMoved, 0)
	}
	for i := range sumMoved + sumFold {
		add(indexSum{Documents: i%3 - 1, Sum: uint64(i) << 50})
	}
	check("after many transactions")
	for n := 0; !add(indexSum{Documents: 1, Sum: 1}); n++ {
		if n == 2*sumFold {
			t.Fatalf("of %d transactions, none moved rows", n)
		}
		write(t, db, func(*txn.Txn) error { return nil }) // so that starts are odd and even
	}
	check("after one that moves rows")
	for i := range sumMoved + 3 {
		add(indexSum{Documents: 1, Sum: uint64(i)})
	}
	for rows > 0 {
		fold()
		check("moved")
	}
	write(t, db, func(tx *txn.Txn) error { return (&indexSum{}).write(t.Context(), tx) })
	check("nothing was added")
}

// TestNoIndexSum: without a sum, such as in a shared table, nothing moves.
func TestNoIndexSum(t *testing.T) {
	db := bare(t)
	write(t, db, func(tx *txn.Txn) error { return (&indexSum{Documents: 1}).write(t.Context(), tx) })
	write(t, db, func(tx *txn.Txn) error { return foldIndexSum(t.Context(), tx) })
	write(t, db, func(tx *txn.Txn) error {
		if s, kept, err := ReadIndexSum(t.Context(), tx); kept || err != nil {
			t.Errorf("sum %+v, %t, %v", s, kept, err)
		}
		n := 0
		if err := eachSumPart(t.Context(), tx, func(string, schema.StoredIndexSum) error { n++; return nil }); err != nil || n != 1 {
			t.Errorf("%d rows, %v", n, err)
		}
		return nil
	})
}
