package histories_test

import (
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/faulty"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/store/postgres"
	"github.com/webindexer/indexer/txn"
)

type engine struct {
	name string
	open func(t *testing.T) store.Table
	// remote: it is slow, and commits in two phases only.
	remote bool
}

var engines = []engine{
	{name: "mem", open: func(t *testing.T) store.Table { return openMem(t, mem.Options{}) }},
	{name: "badger", open: func(t *testing.T) store.Table {
		table, err := badgerdb.Open(t.TempDir(), txn.Groups("app"), badgerdb.Options{MinFreeBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}},
	{name: "postgres", remote: true, open: func(t *testing.T) store.Table {
		table, err := postgres.Open(t.Context(), pgtest.Shared(t).Emptied(t, "histories"), txn.Groups("app"), postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}},
}

// eachMode runs a test in all modes of all engines.
func eachMode(t *testing.T, fn func(t *testing.T, e engine, mode txn.Mode)) {
	for _, e := range engines {
		for _, m := range modes {
			if e.remote && m.mode == txn.OnePhase {
				continue
			}
			t.Run(e.name+"/"+m.name, func(t *testing.T) { fn(t, e, m.mode) })
		}
	}
}

func openMem(t *testing.T, opts mem.Options) store.Table {
	t.Helper()
	table, err := mem.New(txn.Groups("app"), opts)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func closeTable(t *testing.T, table store.Table) {
	t.Helper()
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}

// transactions is how many are judged in each of the nine settings: 10,000
// together, and with INDEXER_LONG=1 100,000 together.
func transactions() int {
	switch {
	case testenv.Long():
		return 100_000/9 + 1
	case testing.Short():
		return 300
	}
	return 10_000/9 + 1
}

var modes = []struct {
	name string
	mode txn.Mode
}{{"onephase", txn.OnePhase}, {"twophase", txn.TwoPhase}}

// badTimes makes clients die in their commits, so that others must resolve their
// locks, and the table fail, or do its work and say that it does not know.
func badTimes(l load) load {
	l.dying, l.lockTTL = 120, 3*time.Millisecond
	l.faults = []faulty.Plan{
		{N: 150, Every: 301, Kinds: faulty.Writes, Fault: faulty.Lost},
		{N: 100, Every: 499, Fault: faulty.Fail},
		{N: 170, Every: 701, Kinds: faulty.Writes, Fault: faulty.Late, After: 20},
	}
	return l
}

// TestElle: no G0, G1a, G1b, G1c, lost update, G-single, long fork or stale snapshot,
// on all engines and commit paths, in good times and in bad.
func TestElle(t *testing.T) {
	needJudge(t)
	eachMode(t, func(t *testing.T, e engine, mode txn.Mode) {
		good := load{mode: mode, transactions: transactions(), clients: 16, keys: 5}
		if e.remote && !testenv.Long() {
			good.transactions = 250
		}
		for name, l := range map[string]load{"good": good, "bad": badTimes(good)} {
			t.Run(name, func(t *testing.T) {
				table := e.open(t)
				defer closeTable(t, table)
				mustHold(t, record(t, table, l))
			})
		}
	})
	// A table whose batches are small: transactions take both paths at once.
	t.Run("mem/mixed/bad", func(t *testing.T) {
		table := openMem(t, mem.Options{Limits: store.Limits{MaxBatchBytes: 400}})
		defer closeTable(t, table)
		mustHold(t, record(t, table, badTimes(load{mode: txn.OnePhase, transactions: transactions(), clients: 16, keys: 5})))
	})
}

// TestWriteSkew: the judge finds that histories of plain reads are not
// serializable, which snapshot isolation allows; with every read for update they
// are, in good times and in bad.
func TestWriteSkew(t *testing.T) {
	needJudge(t)
	eachMode(t, func(t *testing.T, e engine, mode txn.Mode) {
		if e.remote && !testenv.Long() {
			t.Skip("on a remote engine only with INDEXER_LONG=1")
		}
		l := load{mode: mode, transactions: max(transactions()/4, 200), clients: 16, keys: 4, skewed: true}
		table := e.open(t)
		history := record(t, table, l)
		closeTable(t, table)
		mustHold(t, history)
		valid, verdict := judge(t, history, "-model", "serializable")
		if names := anomalies(verdict); valid || !slices.Contains(names, "G2-item") {
			t.Errorf("no write skew without read locks: %v", names)
		}
		for _, l := range []load{l, badTimes(l)} {
			l.locking = true
			table = e.open(t)
			history = record(t, table, l)
			closeTable(t, table)
			mustHold(t, history, "-model", "serializable")
		}
	})
}
