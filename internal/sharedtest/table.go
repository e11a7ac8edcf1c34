package sharedtest

import (
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// Table returns a table in memory that several processes can open. It is closed at the end of
// the test.
func Table(t testing.TB, groups []store.GroupSpec) store.Table {
	t.Helper()
	table, err := mem.New(groups, mem.Options{TwoPhaseOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, table)
	return table
}
