package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/store"
)

// leasing are the options of a process that knows which observer has a lease.
func leasing() Options {
	return Options{
		Observers: func(Column) []string { return []string{"any", "leased"} },
		Leased:    func(observer string) bool { return observer == "leased" },
	}
}

// showNotifications lists all notifications, those that any process may handle first.
func showNotifications(t *testing.T, table store.Reader) string {
	t.Helper()
	var shown []string
	for _, group := range []string{notifyGroup, leasedGroup} {
		notes, next, err := notificationsIn(t.Context(), table, group, "", 1000)
		if err != nil || next != "" {
			t.Fatalf("%q: %v", next, err)
		}
		for _, n := range notes {
			shown = append(shown, n.Observer+" at "+n.Cell.Row)
		}
		shown = append(shown, "|")
	}
	return strings.Join(shown[:len(shown)-1], " ")
}

// TestLeasedNotifications: notifications of an observer with a lease have a group of their own.
// Searches for all notifications, or for one, find them, and a run removes them. Those that an
// earlier version has sent are in the other group, and work as well.
func TestLeasedNotifications(t *testing.T) {
	ctx := t.Context()
	table, coordinator := sharedTable(t), sharedtest.New()
	now, _ := openShared(t, table, coordinator, leasing())
	before := leasing()
	before.Leased = nil
	earlier, _ := openShared(t, table, coordinator, before)
	send := func(db *DB, row string) uint64 {
		ts, err := db.Run(ctx, func(tx *Txn) error { tx.Set(row, app("c"), nil); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return ts
	}
	send(now, "a")
	send(earlier, "b")
	send(now, "c")
	last := send(earlier, "c")
	want := func(when, shown string) {
		t.Helper()
		if got := showNotifications(t, table); got != shown {
			t.Errorf("%s: %s\nwant %s", when, got, shown)
		}
	}
	want("sent", "any at a any at b leased at b any at c leased at c | leased at a leased at c")
	if notes, _, err := now.Notifications(ctx, "", 100); err != nil || len(notes) != 5 {
		t.Errorf("a scan of what any process may handle: %v, %v", notes, err)
	}
	if ts, err := now.Notified(ctx, Cell{"c", app("c")}, "leased"); err != nil || ts != last {
		t.Errorf("the newer one is of %d, want %d: %v", ts, last, err)
	}

	handle := func(row, observer string) {
		tx, err := now.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		tx.AddTrigger(Trigger{Cell: Cell{row, app("c")}, Observer: observer, TS: last, Strong: row == "b"})
		if _, err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []string{"a", "b", "c"} {
		handle(row, "any")
	}
	handle("c", "leased")
	want("handled", "leased at b | leased at a")
	if err := now.Forget(ctx, Notification{Cell: Cell{"b", app("c")}, Observer: "leased", TS: last}); err != nil {
		t.Fatal(err)
	}
	want("forgotten", "| leased at a")
	if _, ok, err := now.Quiescent(ctx); ok || err != nil {
		t.Errorf("quiescent, though the holder of a lease has work: %t, %v", ok, err)
	}
	handle("a", "leased")
	want("all handled", "|")
	if _, ok, err := now.Quiescent(ctx); !ok || err != nil {
		t.Errorf("not quiescent with nothing left: %t, %v", ok, err)
	}
}

// TestAcksOfLeasedNotifications: an acknowledgement stays as long as a notification, whatever its
// group.
func TestAcksOfLeasedNotifications(t *testing.T) {
	ctx := t.Context()
	db, _ := openShared(t, sharedTable(t), sharedtest.New(), leasing())
	c := Cell{"row", app("c")}
	a := ack{c, "leased", observerColumn(c.Column, "leased"), 1}
	for _, gone := range []bool{true, false} {
		if orphaned, err := db.orphaned(ctx, a); orphaned != gone || err != nil {
			t.Errorf("nothing needs the acknowledgement: %t, %v, want %t", orphaned, err, gone)
		}
		if _, err := db.Run(ctx, func(tx *Txn) error { tx.Notify(c.Row, c.Column); return nil }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMoveLeased: a process that uses a table alone finds the leased notifications from the
// time when others shared it, even after a crash in the middle.
func TestMoveLeased(t *testing.T) {
	ctx := t.Context()
	table := sharedTable(t)
	many := notificationsPage + 10
	shared, _ := openShared(t, table, sharedtest.New(), leasing())
	_, err := shared.Run(ctx, func(tx *Txn) error {
		for i := range many {
			tx.Notify(fmt.Sprintf("row %04d", i), app("c"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := func(db *DB) (notes []Notification) {
		err := db.EachNotification(ctx, func(page []Notification) error { notes = append(notes, page...); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return notes
	}
	want := all(shared)
	for i := range want {
		want[i].Leased = false
	}
	crashing := &failingApply{Table: table, left: 1}
	if _, err := Open(ctx, crashing, leasing()); !errors.Is(err, errApply) {
		t.Fatalf("opened with a table that fails: %v", err)
	}
	alone := open(t, table, leasing())
	defer alone.Close()
	got := all(alone)
	order := func(a, b Notification) int {
		return strings.Compare(a.Cell.Row+a.Observer, b.Cell.Row+b.Observer)
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	if !slices.Equal(got, want) || len(got) != 2*many {
		t.Errorf("%d notifications, want the %d of before", len(got), len(want))
	}
	if n, _, err := notificationsIn(ctx, table, leasedGroup, "", 10); err != nil || len(n) > 0 {
		t.Errorf("%d still lie apart: %v", len(n), err)
	}
	pages := 0
	err = alone.EachNotification(ctx, func([]Notification) error { pages++; return ErrStop })
	if err != nil || pages != 1 {
		t.Errorf("stopped after %d pages: %v", pages, err)
	}
}

var errApply = errors.New("no room")

// failingApply is a table that moves notifications a number of times, and then fails.
type failingApply struct {
	store.Table
	left int
}

func (f *failingApply) Apply(ctx context.Context, rows []store.RowMutation) error {
	if len(rows[0].Mutations) == 2 {
		if f.left--; f.left < 0 {
			return errApply
		}
	}
	return f.Table.Apply(ctx, rows)
}
