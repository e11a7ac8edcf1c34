package repository_test

import (
	"testing"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestExportEndedTransactions: Export uses no transaction after it has asked for the next one.
func TestExportEndedTransactions(t *testing.T) {
	dir, _ := filled(t)
	r := open(t, dir, repository.Options{})
	defer closeNow(t, r)
	hold, err := r.DB().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Rollback()
	var last *txn.Txn
	next := func() *txn.Txn {
		if last != nil {
			last.Rollback()
		}
		last = r.DB().At(hold.Start())
		return last
	}
	err = hold.Scan(t.Context(), schema.GroupIndex, "", "", func(row string, _ []txn.Version) error {
		key, err := schema.ParseClusterRow(row)
		if err == nil {
			_, err = observers.Export(t.Context(), next, key)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if last == nil {
		t.Fatal("nothing was exported")
	}
	last.Rollback()
}
