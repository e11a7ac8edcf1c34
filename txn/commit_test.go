package txn

import (
	"context"
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestUnfinishedRun: a run keeps its notification if it has committed its primary and could not commit
// the other cells. So its work does not count as done while they are locked.
func TestUnfinishedRun(t *testing.T) {
	for name, step := range map[string]func(string, Cell) error{
		"at once":    nil,
		"one by one": func(string, Cell) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			table := &refusesLocked{Table: openMem(t, Groups("app"))}
			defer closeTable(t, table)
			db := open(t, table, Options{Mode: TwoPhase, Step: step, Observers: func(Column) []string { return []string{"o"} }})
			defer db.Close()
			run(t, db, func(tx *Txn) { tx.Set("row", app("c"), nil) })
			notes := func() []Notification {
				list, _, err := db.Notifications(t.Context(), "row", 1)
				if err != nil {
					t.Fatal(err)
				}
				return list
			}
			before := notes()
			for _, refuses := range []bool{true, false} {
				table.refuses = refuses
				run(t, db, func(tx *Txn) {
					tx.AddTrigger(Trigger{Cell: before[0].Cell, Observer: "o", TS: before[0].TS})
					tx.Set("one", app("d"), nil)
					tx.Set("two", app("d"), nil)
				})
				if left := len(notes()) > 0 && notes()[0] == before[0]; left != refuses {
					t.Errorf("cells could not be committed: %v, and the notification is left: %v", refuses, left)
				}
			}
		})
	}
}

// refusesLocked is a table that does not commit cells after the commit point.
type refusesLocked struct {
	store.Table
	refuses bool
}

func (r *refusesLocked) Apply(ctx context.Context, rows []store.RowMutation) error {
	if r.refuses && rows[0].Mutations[0].Group == lockGroup {
		return errApply
	}
	return r.Table.Apply(ctx, rows)
}
