package txn

import (
	"context"
	"slices"
	"testing"

	"github.com/webindexer/indexer/store"
)

// A write whose observer's work is done wakes only the other observers of the column, and a
// notification that was sent separately from the write is still sent.
func TestHandled(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		db := open(t, table, Options{Mode: mode, Observers: func(c Column) []string {
			return map[string][]string{"w": {"a", "b"}, "v": {"a"}}[c.Name]
		}})
		defer db.Close()
		run(t, db, func(tx *Txn) {
			tx.Set("row", app("w"), nil)
			tx.Set("other", app("w"), nil)
			tx.Handled("row", app("w"), "a")
			tx.Set("row", app("v"), nil)
			tx.Notify("row", app("v"))
			tx.Handled("row", app("v"), "a")
		})
		notes, _, err := db.Notifications(context.Background(), "", 100)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range notes {
			got = append(got, n.Observer+" at "+n.Cell.Row+" "+n.Cell.Name)
		}
		slices.Sort(got)
		if want := []string{"a at other w", "a at row v", "b at other w", "b at row w"}; !slices.Equal(got, want) {
			t.Errorf("woken: %q, want %q", got, want)
		}
	})
}
