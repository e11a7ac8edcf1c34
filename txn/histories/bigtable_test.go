package histories_test

import (
	"context"
	"testing"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/bigtable"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
	"github.com/webindexer/indexer/store/faulty"
	"github.com/webindexer/indexer/txn"
)

// TestElleOnBigtable: the same on Bigtable, where reads share requests. In bad times the
// locks of dying clients live long enough for a commit of many requests.
func TestElleOnBigtable(t *testing.T) {
	needJudge(t)
	good := load{mode: txn.TwoPhase, transactions: max(transactions()/3, 200), clients: 16, keys: 5}
	bad := good
	bad.dying, bad.lockTTL = 120, 200*time.Millisecond
	bad.faults = []faulty.Plan{
		{N: 150, Every: 301, Kinds: faulty.Writes, Fault: faulty.Lost},
		{N: 100, Every: 499, Fault: faulty.Fail},
	}
	for name, l := range map[string]load{"good": good, "bad": bad} {
		t.Run(name, func(t *testing.T) {
			table := openBigtable(t)
			defer closeTable(t, table)
			mustHold(t, record(t, table, l))
		})
	}
}

func openBigtable(t *testing.T) store.Table {
	t.Helper()
	table, err := bigtable.Open(context.Background(), bigtabletest.URL(t), txn.Groups("app"), bigtable.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}
