package txn

import (
	"context"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/store/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main{M: m}) }

// engine makes the tables that the suites run on.
type engine struct {
	name string
	open func(t testing.TB, groups []store.GroupSpec) store.Table
	// remote: it is slow, and commits in two phases only.
	remote bool
}

var engines = []engine{
	{name: "mem", open: openMem},
	{name: "badger", open: openBadger},
	{name: "postgres", open: openPostgres, remote: true},
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

func openPostgres(t testing.TB, groups []store.GroupSpec) store.Table {
	t.Helper()
	table, err := postgres.Open(context.Background(), pgtest.Shared(t).Emptied(t, fmt.Sprint(groups)), groups, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

var modes = []struct {
	name string
	mode Mode
}{{"onephase", OnePhase}, {"twophase", TwoPhase}}

// eachMode runs a test in all modes of all engines.
func eachMode(t *testing.T, fn func(t *testing.T, e engine, mode Mode)) {
	for _, e := range engines {
		for _, m := range modes {
			if e.remote && m.mode == OnePhase {
				continue
			}
			t.Run(e.name+"/"+m.name, func(t *testing.T) { fn(t, e, m.mode) })
		}
	}
}

// eachSetting is eachMode with a table, and on remote engines only in long mode.
func eachSetting(t *testing.T, fn func(t *testing.T, table store.Table, mode Mode)) {
	eachMode(t, func(t *testing.T, e engine, mode Mode) {
		if e.remote && !testenv.Long() {
			t.Skip("on a remote engine only with INDEXER_LONG=1")
		}
		table := e.open(t, Groups("app", "other"))
		defer closeTable(t, table)
		fn(t, table, mode)
	})
}

func closeTable(t testing.TB, table store.Table) {
	t.Helper()
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}

// open opens a DB, which the caller closes.
func open(t testing.TB, table store.Table, opts Options) *DB {
	t.Helper()
	db, err := Open(context.Background(), table, opts)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// run runs a transaction that must commit.
func run(t *testing.T, db *DB, fn func(tx *Txn)) {
	t.Helper()
	_, err := db.Run(t.Context(), func(tx *Txn) error { fn(tx); return nil })
	if err != nil {
		t.Fatal(err)
	}
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
