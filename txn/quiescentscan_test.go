package txn

import (
	"context"
	"errors"
	"testing"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/store"
)

// slowScan is a table that scans notifications at two instants: first the rows below "m", then
// the others. It calls between and after with the number of the scan, from 1.
type slowScan struct {
	store.Table
	scans          int
	between, after func(scan int)
}

func (s *slowScan) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	if r.Group != notifyGroup {
		return s.Table.Scan(ctx, r, fn)
	}
	s.scans++
	scan, first, second := s.scans, r, r
	first.End, second.Start = []byte("m"), []byte("m")
	if _, err := s.Table.Scan(ctx, first, fn); err != nil {
		return nil, err
	}
	s.between(scan)
	next, err := s.Table.Scan(ctx, second, fn)
	s.after(scan)
	return next, err
}

// TestQuiescentWhileARunSends: a run that only sends a notification has no lock. It sends to a
// row that a scan has passed, and removes the notification that triggered it before the scan
// gets there.
func TestQuiescentWhileARunSends(t *testing.T) {
	ctx := t.Context()
	table := &slowScan{Table: sharedTable(t)}
	db, _ := openShared(t, table, sharedtest.New(), Options{Observers: func(Column) []string { return []string{"o"} }})
	sent, handled := Cell{"a", app("c")}, Cell{"z", app("c")}
	var start, commit uint64 // of the run
	take := func() uint64 {
		ts, err := db.next(ctx)
		if err != nil {
			t.Error(err)
		}
		return ts
	}
	apply := func(c Cell, m ...store.Mutation) {
		if err := table.Apply(ctx, []store.RowMutation{{Row: []byte(c.Row), Mutations: m}}); err != nil {
			t.Error(err)
		}
	}
	table.after = func(scan int) {
		if scan == 1 { // before Quiescent asks for the last timestamp
			apply(handled, db.notify(handled, "o", take()))
			start, commit = take(), take()
		}
	}
	table.between = func(scan int) {
		if scan == 2 {
			apply(sent, db.notify(sent, "o", commit))
			apply(handled, db.unnotify(handled, "o", start)...)
		}
	}
	if _, ok, err := db.Quiescent(ctx); ok || err != nil {
		t.Errorf("quiescent, though a run has sent a notification: %t, %v", ok, err)
	}
	if ts, err := db.Notified(ctx, sent, "o"); err != nil || ts != commit || table.scans < 2 {
		t.Errorf("the run's notification has timestamp %d after %d scans, want %d: %v", ts, table.scans, commit, err)
	}
}

// watchedScans is a table that calls before with the group of each scan.
type watchedScans struct {
	store.Table
	before func(group string)
}

func (w *watchedScans) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	if w.before != nil {
		w.before(r.Group)
	}
	return w.Table.Scan(ctx, r, fn)
}

// TestQuiescentWhileNotificationsMove: notifications of an observer with a lease are moved to the
// others just before a scan would find them: first the one that triggered a run, then the one that
// the run has sent.
func TestQuiescentWhileNotificationsMove(t *testing.T) {
	ctx := t.Context()
	table := &watchedScans{Table: sharedTable(t)}
	db, _ := openShared(t, table, sharedtest.New(), leasing())
	handled, sent := Cell{"a", app("c")}, Cell{"b", app("c")}
	var ts [3]uint64 // of the first notification; start and commit of the run
	for i := range ts {
		var err error
		if ts[i], err = db.next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	apply := func(c Cell, m ...store.Mutation) {
		if err := table.Apply(ctx, []store.RowMutation{{Row: []byte(c.Row), Mutations: m}}); err != nil {
			t.Error(err)
		}
	}
	found, scans := false, 0 // scans of notifyGroup since something is there to find
	table.before = func(group string) {
		switch {
		case group == lockGroup && !found: // Quiescent has found no notification
			found = true
			apply(handled, db.notify(handled, "leased", ts[0]))
		case group == leasedGroup && found:
			notes, _, err := notificationsIn(ctx, table.Table, leasedGroup, "", 10)
			if err := errors.Join(err, db.MoveLeased(ctx, notes)); err != nil {
				t.Error(err)
			}
		case group == notifyGroup && found:
			if scans++; scans == 2 {
				apply(sent, db.notify(sent, "leased", ts[2]))
				apply(handled, db.unnotify(handled, "leased", ts[1])...)
			}
		}
	}
	if _, ok, err := db.Quiescent(ctx); ok || err != nil {
		t.Errorf("quiescent, though there was a notification all the time: %t, %v", ok, err)
	}
}
