package histories_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// TestTheJudgeBites breaks the protocol from below, and expects the judge to
// notice: a judge that is always content proves nothing.
func TestTheJudgeBites(t *testing.T) {
	needJudge(t)
	for _, tc := range []struct {
		name  string
		wrong func(store.Table) store.Table
		want  []string // one of these
	}{
		{"reads see the latest, not the snapshot", func(t store.Table) store.Table { return latest{t} }, []string{"G-single", "G-nonadjacent", "internal", "incompatible-order"}},
		{"writes after the start do not conflict", func(t store.Table) store.Table { return unguarded{t} }, []string{"G-single", "G0", "incompatible-order"}},
		{"reads do not wait for locks", func(t store.Table) store.Table { return impatient{t} }, []string{"G-single", "G-nonadjacent", "incompatible-order"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var names []string
			for range 20 { // one may be lucky
				table := engines[0].open(t)
				history := record(&testing.T{}, tc.wrong(table), load{mode: txn.TwoPhase, transactions: 2000, clients: 16, keys: 3})
				closeTable(t, table)
				if valid, verdict := judge(t, history); !valid {
					names = anomalies(verdict)
					break
				}
			}
			t.Log(names)
			if !slices.ContainsFunc(tc.want, func(n string) bool { return slices.Contains(names, n) }) {
				t.Errorf("found %v, want one of %v", names, tc.want)
			}
		})
	}
}

// latest answers reads of the application's cells with the newest version.
type latest struct{ store.Table }

func (l latest) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	sel = slices.Clone(sel)
	for i := range sel {
		if sel[i].Newest == 1 && !strings.HasPrefix(sel[i].Group, "~") {
			sel[i].MaxTS = 0
		}
	}
	return l.Table.Read(ctx, row, sel...)
}

// unguarded lets a write pass that others have written after its start.
type unguarded struct{ store.Table }

func (u unguarded) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	m.Absent = slices.DeleteFunc(slices.Clone(m.Absent), func(s store.Selector) bool {
		return s.Group == column.Group && strings.HasPrefix(string(s.Column), "w")
	})
	return u.Table.Mutate(ctx, m)
}

// impatient does not show locks to readers. It lets other transactions run between the
// commit of the primary and that of the secondaries: only one that starts there can see
// half of a transaction.
type impatient struct{ store.Table }

func (i impatient) Apply(ctx context.Context, rows []store.RowMutation) error {
	for range 100 {
		runtime.Gosched()
	}
	return i.Table.Apply(ctx, rows)
}

func (i impatient) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	cells, err := i.Table.Read(ctx, row, sel...)
	if len(sel) == 2 && sel[0].Group == "~lock" {
		cells = slices.DeleteFunc(cells, func(c store.Cell) bool { return c.Group == "~lock" })
	}
	return cells, err
}
