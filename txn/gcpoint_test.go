package txn

import (
	"errors"
	"testing"
)

// TestNothingIsBelowTheFirstTimestamp: while a reader holds the safe point of a new table at 1, a
// collection neither waits for locks nor removes acknowledgements, whose timestamps are all
// greater.
func TestNothingIsBelowTheFirstTimestamp(t *testing.T) {
	table := openMem(t, Groups("app", "other"))
	defer closeTable(t, table)
	db := open(t, table, Options{})
	release := db.Hold()
	c := Cell{"row", app("c")}
	run(t, db, func(tx *Txn) { tx.AddTrigger(Trigger{Cell: c, Observer: "o", TS: 1, Strong: true}) })
	tx := mustBegin(t, db)
	tx.Set("locked", app("c"), nil)
	pending := tx.plan()
	if err := pending.prewrite(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := db.Collect(t.Context(), CollectOptions{Queue: idle{}})
	if err != nil || got.SafePoint != 1 || got.Acks != 0 || got.Locks != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	release()
	tx.Rollback()
	if err := errors.Join(pending.undo(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
}
