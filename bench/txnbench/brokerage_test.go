package txnbench

import (
	"io"
	"testing"
	"time"

	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// TestBrokerage: the benchmark itself fails if the books do not add up.
func TestBrokerage(t *testing.T) {
	o := BrokerageOptions{Customers: 250, Securities: 30, Goroutines: 8, Slice: 100 * time.Millisecond, Log: io.Discard}
	rows, err := Brokerage(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 6 {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		for kind, n := range r.Kinds {
			if n == 0 && kind != feeds { // one in a hundred
				t.Errorf("%s, %s: no %s", r.Path, r.Commission, kind)
			}
		}
	}
}

// TestRetries: what is run again is a retry, and what another transaction begins is none.
func TestRetries(t *testing.T) {
	f := newFirm(BrokerageOptions{}, commissionNone)
	err := withDB(t.Context(), t.TempDir(), txn.Options{}, badgerdb.Options{}, func(db *txn.DB) error {
		f.db = db
		set := func(tx *txn.Txn) error {
			tx.Set(securityRow(1), field, numbers(1))
			return nil
		}
		disturbed := false
		return f.run(t.Context(), func(tx *txn.Txn) error {
			if !disturbed {
				disturbed = true
				if _, err := db.Run(t.Context(), set); err != nil {
					return err
				}
			}
			return set(tx)
		})
	})
	if err != nil || f.retries.Load() != 1 {
		t.Errorf("%d retries, %v, want 1", f.retries.Load(), err)
	}
}

// TestAudit: the audit finds each kind of error in the books.
func TestAudit(t *testing.T) {
	for _, tc := range []struct {
		row  string
		list []int64
	}{
		{accountRow(3), []int64{1}},
		{holdingRow(3, 1), []int64{1}},
		{brokerRow(0), []int64{5, 1}},
		{commissionRow(0, 7), []int64{5}},
		{tradeRow(7), []int64{3, 1, 10, 5, 1}},
	} {
		f := newFirm(BrokerageOptions{Customers: 10, Securities: 5}, commissionSide)
		err := withDB(t.Context(), t.TempDir(), txn.Options{}, badgerdb.Options{}, func(db *txn.DB) error {
			f.db = db
			if err := f.openAccounts(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := f.audit(t.Context()); err != nil {
				t.Errorf("of a new firm: %v", err)
			}
			if _, err := db.Run(t.Context(), func(tx *txn.Txn) error {
				tx.Set(tc.row, field, numbers(tc.list...))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			err := f.audit(t.Context())
			if err == nil {
				t.Errorf("%s was changed, and the audit finds nothing", tc.row)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
