package txn

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engines make the tables that the suites run on.
var engines = []struct {
	name string
	open func(t testing.TB, groups []store.GroupSpec) store.Table
}{
	{"mem", openMem},
	{"badger", openBadger},
}

func openMem(t testing.TB, groups []store.GroupSpec) store.Table {
	t.Helper()
	table, err := mem.New(groups, mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func openBadger(t testing.TB, groups []store.GroupSpec) store.Table {
	t.Helper()
	table, err := badgerdb.Open(t.TempDir(), groups, badgerdb.Options{MinFreeBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

var modes = []struct {
	name string
	mode Mode
}{{"onephase", OnePhase}, {"twophase", TwoPhase}}

// eachSetting runs a test in both modes on all engines.
func eachSetting(t *testing.T, fn func(t *testing.T, table store.Table, mode Mode)) {
	for _, e := range engines {
		for _, m := range modes {
			t.Run(e.name+"/"+m.name, func(t *testing.T) {
				table := e.open(t, Groups("app", "other"))
				defer closeTable(t, table)
				fn(t, table, m.mode)
			})
		}
	}
}

func closeTable(t testing.TB, table store.Table) {
	t.Helper()
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}

// open opens a DB and closes it with the test.
func open(t testing.TB, table store.Table, opts Options) *DB {
	t.Helper()
	db, err := Open(context.Background(), table, opts)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func mustBegin(t testing.TB, db *DB) *Txn {
	t.Helper()
	tx, err := db.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

// app is a column of the group that the tests use.
func app(name string) Column { return Column{Group: "app", Name: name} }
