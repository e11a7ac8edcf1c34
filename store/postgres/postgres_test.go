package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main{M: m}) }

// open opens an empty table in a schema of its own.
func open(t testing.TB, groups []store.GroupSpec) store.Table {
	t.Helper()
	table, err := Open(context.Background(), pgtest.Shared(t).Schema(t), groups, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestConformance(t *testing.T) { storetest.Run(t, open) }

func pools(t store.Table) []*pgxpool.Pool { return []*pgxpool.Pool{t.(*table).calls, t.(*table).scans} }
