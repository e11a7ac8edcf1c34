package notify

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// failingTable is a table whose scans fail with err until a time.
type failingTable struct {
	store.Table
	until time.Time
	err   error
}

func (f *failingTable) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	if time.Now().Before(f.until) {
		return nil, f.err
	}
	return f.Table.Scan(ctx, r, fn)
}

// TestQuiesceWaitsForServers: on a shared table, whoever waits for all work also waits while the
// table or the oracle does not answer, as long as a load does.
func TestQuiesceWaitsForServers(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name  string
		err   error
		lasts time.Duration
		fails bool
	}{
		{"table", store.ErrUnavailable, 9 * time.Minute, false},
		{"oracle", txn.ErrNoTimestamps, 9 * time.Minute, false},
		{"table for too long", store.ErrUnavailable, 11 * time.Minute, true},
		{"other error", broken, time.Minute, true},
		{"disk full", errors.Join(store.ErrNoSpace, store.ErrUnavailable), time.Minute, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				table := &failingTable{Table: f.table, err: c.err}
				f.table = table
				loader := f.join(0)
				began := time.Now()
				table.until = began.Add(c.lasts)
				_, err := loader.p.Quiesce(t.Context())
				took := time.Since(began)
				switch {
				case !c.fails && (err != nil || took < c.lasts):
					t.Errorf("Quiesce returned %v after %v", err, took)
				case c.fails && !errors.Is(err, c.err), c.fails && took > outageMost+time.Second:
					t.Errorf("Quiesce returned %v after %v, want %v", err, took, c.err)
				}
				table.until = began
				loader.close()
			})
		})
	}
}
