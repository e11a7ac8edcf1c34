package txn

import (
	"context"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/store"
)

// scanned is a table that notes which groups are scanned.
type scanned struct {
	store.Table
	groups []string
}

func (s *scanned) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	s.groups = append(s.groups, r.Group)
	return s.Table.Scan(ctx, r, fn)
}

// TestQuiescentWhileNotified: Quiescent looks for locks only when no notification is left.
// On some engines the search visits every row of the table.
func TestQuiescentWhileNotified(t *testing.T) {
	table := &scanned{Table: sharedTable(t)}
	db, _ := openShared(t, table, sharedtest.New(), Options{Observers: func(Column) []string { return []string{"observer"} }})
	note := Cell{"row", Column{"app", "column"}}
	if _, err := db.Run(t.Context(), func(tx *Txn) error { tx.Notify(note.Row, note.Column); return nil }); err != nil {
		t.Fatal(err)
	}
	table.groups = nil
	if _, ok, err := db.Quiescent(t.Context()); err != nil || ok {
		t.Errorf("quiescent with a notification: %t, %v", ok, err)
	}
	if !slices.Equal(table.groups, []string{notifyGroup}) {
		t.Errorf("scanned %q, want notifications alone", table.groups)
	}
	notes, _, err := db.Notifications(t.Context(), "", 10)
	if err != nil || len(notes) != 1 {
		t.Fatalf("notifications %v: %v", notes, err)
	}
	if err := db.Forget(t.Context(), notes[0]); err != nil {
		t.Fatal(err)
	}
	table.groups = nil
	if _, ok, err := db.Quiescent(t.Context()); err != nil || !ok {
		t.Errorf("not quiescent with nothing left: %t, %v", ok, err)
	}
	if !slices.Contains(table.groups, lockGroup) {
		t.Error("nobody looked for locks")
	}
}
