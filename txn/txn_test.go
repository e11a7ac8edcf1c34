package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// set commits one cell.
func set(t testing.TB, db *DB, row string, c Column, value string) uint64 {
	t.Helper()
	commit, err := db.Run(context.Background(), func(tx *Txn) error {
		tx.Set(row, c, []byte(value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return commit
}

func TestOpenRefusesTablesThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		groups []store.GroupSpec
		opts   mem.Options
		mode   Mode
		want   string
	}{
		"no protocol groups":   {groups: []store.GroupSpec{{Name: "app"}}, want: `without the group "~meta"`},
		"reserved group":       {groups: Groups("~mine"), want: "names that start with ~ are reserved"},
		"zero byte in group":   {groups: Groups("a\x00b"), want: "zero byte"},
		"one phase impossible": {groups: Groups("app"), opts: mem.Options{TwoPhaseOnly: true}, mode: OnePhase, want: "cannot commit a transaction in one phase"},
	} {
		t.Run(name, func(t *testing.T) {
			table, err := mem.New(c.groups, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer closeTable(t, table)
			if _, err := Open(context.Background(), table, Options{Mode: c.mode}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAutoTakesWhatTheTableCan(t *testing.T) {
	for only, want := range map[bool]Mode{false: OnePhase, true: TwoPhase} {
		table, err := mem.New(Groups("app"), mem.Options{TwoPhaseOnly: only})
		if err != nil {
			t.Fatal(err)
		}
		db := open(t, table, Options{})
		if db.Mode() != want {
			t.Errorf("two-phase only %v: mode %d", only, db.Mode())
		}
		set(t, db, "row", app("c"), "v") // also without snapshots
		tx := mustBegin(t, db)
		if v, err := tx.Get(context.Background(), "row", app("c")); err != nil || string(v.Data) != "v" {
			t.Errorf("got %q, %v", v.Data, err)
		}
		tx.Rollback()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		closeTable(t, table)
	}
}

func TestEndedTransactionsRefuseEverything(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		ctx := context.Background()
		db := open(t, table, Options{Mode: mode})
		defer db.Close()
		tx := mustBegin(t, db)
		tx.Set("row", app("c"), nil)
		if n := db.Running(); n != 1 {
			t.Errorf("%d running", n)
		}
		if _, err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		tx.Rollback()
		if n := db.Running(); n != 0 {
			t.Errorf("%d running", n)
		}
		_, get := tx.Get(ctx, "row", app("c"))
		_, getRow := tx.GetRow(ctx, "row", "app")
		prefetch := tx.Prefetch(ctx, "row", app("c"))
		_, acked := tx.Acknowledged(ctx, Cell{"row", app("c")}, "o")
		_, commit := tx.Commit(ctx)
		scan := tx.Scan(ctx, "app", "", "", nil)
		for i, err := range []error{get, getRow, prefetch, acked, commit, scan} {
			if !errors.Is(err, ErrDone) {
				t.Errorf("call %d: %v", i, err)
			}
		}
	})
}

func TestCommitRefusesWhatCouldNotBeRead(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		db := open(t, table, Options{Mode: mode, Observers: func(c Column) []string {
			if c.Name == "watched" {
				return []string{"a\x00b"}
			}
			return nil
		}})
		defer db.Close()
		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		for name, c := range map[string]struct {
			ctx    context.Context
			column Column
			want   string
		}{
			"reserved group":  {context.Background(), Column{lockGroup, "c"}, "reserved"},
			"zero byte":       {context.Background(), app("watched"), "zero byte"},
			"unknown group":   {context.Background(), Column{"nowhere", "c"}, store.ErrUnknownGroup.Error()},
			"context is over": {cancelled, app("c"), context.Canceled.Error()},
		} {
			tx := mustBegin(t, db)
			tx.Set("row", c.column, nil)
			_, err := tx.Commit(c.ctx)
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if lines, err := readShown(table); err != nil || slices.ContainsFunc(lines, func(l *shown) bool { return l.text[showWrite] != "rolled back" }) {
			t.Errorf("something was left: %v, %v", lines, err)
		}
	})
}

// What the store does not hold at all is an error that says so, in both modes.
func TestTooLarge(t *testing.T) {
	for _, m := range modes {
		table, err := mem.New(Groups("app"), mem.Options{Limits: store.Limits{MaxRowBytes: 10, MaxValueBytes: 1000, MaxBatchBytes: 1500}})
		if err != nil {
			t.Fatal(err)
		}
		db := open(t, table, Options{Mode: m.mode})
		for name, c := range map[string]struct {
			row  string
			size int
			want error
		}{
			"row":             {strings.Repeat("r", 11), 1, store.ErrTooLarge},
			"value":           {"row", 1001, store.ErrTooLarge},
			"greatest value":  {"row", 1000, nil}, // with its write record, too large for one phase
			"many in a batch": {"many", 900, nil},
		} {
			tx := mustBegin(t, db)
			for i := range 3 {
				tx.Set(c.row, app(fmt.Sprint("c", i)), make([]byte, c.size))
			}
			if _, err := tx.Commit(context.Background()); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		want := int64(4)
		if m.mode == TwoPhase {
			want = 0
		}
		if n := db.Counters().TooLargeForOnePhase.Load(); n != want {
			t.Errorf("mode %s: %d transactions too large for one phase, want %d", m.name, n, want)
		}
		closeTable(t, table)
	}
}

func TestScan(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		ctx := context.Background()
		db := open(t, table, Options{Mode: mode})
		defer db.Close()
		// More cells than a page, a row with an empty key, and another group.
		rows := []string{""}
		for i := range scanPage/2 + 10 {
			rows = append(rows, fmt.Sprintf("row%04d", i))
		}
		_, err := db.Run(ctx, func(tx *Txn) error {
			for _, r := range rows {
				tx.Set(r, app("a"), []byte(r))
				tx.Set(r, app("b"), nil)
				tx.Set(r, Column{"other", "a"}, nil)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		tx := mustBegin(t, db)
		defer tx.Rollback()
		tx.Delete("row0000", app("a"))
		tx.Delete("row0001", app("a"))
		tx.Delete("row0001", app("b"))
		tx.Set("row0002x", app("c"), nil)
		var got []string
		err = tx.Scan(ctx, "app", "", "", func(row string, cols []Version) error {
			var names []string
			for _, c := range cols {
				names = append(names, c.Name)
			}
			got = append(got, row+" "+strings.Join(names, ""))
			tx.Set(row+"y", app("z"), nil) // not seen by this scan
			return nil
		})
		want := []string{" ab", "row0000 b", "row0002 ab", "row0002x c"}
		for _, r := range rows[4:] {
			want = append(want, r+" ab")
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %d rows %.120q…, %v; want %d", len(got), got, err, len(want))
		}
		n := 0
		err = tx.ScanPrefix(ctx, "app", "row001", func(row string, _ []Version) error {
			if n++; n == 3 {
				return ErrStop
			}
			return nil
		})
		if err != nil || n != 3 {
			t.Errorf("stopped after %d rows, %v", n, err)
		}
	})
}

// TestScanCells: ScanCells returns what Scan returns, over several pages, with and
// without values in data cells and writes of the transaction itself.
func TestScanCells(t *testing.T) {
	eachSetting(t, func(t *testing.T, table store.Table, mode Mode) {
		ctx := context.Background()
		db := open(t, table, Options{Mode: mode})
		defer db.Close()
		large := make([]byte, 2*inlineLimit)
		for from := 0; from < cellsPage/2+100; from += 500 {
			_, err := db.Run(ctx, func(tx *Txn) error {
				for i := from; i < from+500; i++ {
					row := fmt.Sprintf("row%05d", i)
					tx.Set(row, app("a"), []byte(row))
					tx.Set(row, app("b"), large[:i%2*len(large)])
					tx.Set(row, Column{"other", "a"}, nil)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := db.Run(ctx, func(tx *Txn) error {
			tx.Delete("row00000", app("a"))
			tx.Delete("row00001", app("a"))
			tx.Delete("row00001", app("b"))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		tx := mustBegin(t, db)
		defer tx.Rollback()
		for range 2 {
			if _, err := scanAll(ctx, tx); err != nil {
				t.Error(err)
			}
			tx.Delete("row00002", app("a"))
			tx.Set("row00002", app("c"), []byte("own"))
		}
		n := 0
		past := db.At(db.LastTimestamp())
		defer past.Rollback()
		err = past.ScanCells(ctx, "app", "", "", "a", func(_, _, _ []byte) error {
			if n++; n == 3 {
				return ErrStop
			}
			return nil
		})
		if err != nil || n != 3 {
			t.Errorf("stopped after %d cells, %v", n, err)
		}
	})
}

func TestNotificationsAreListedInPieces(t *testing.T) {
	table := openMem(t, Groups("app"))
	defer closeTable(t, table)
	db := open(t, table, Options{Observers: func(Column) []string { return []string{"o", "p"} }})
	defer db.Close()
	for i := range 10 {
		set(t, db, fmt.Sprint("row", i), app("c"), "")
	}
	var got []Notification
	for from := ""; ; {
		notes, next, err := db.Notifications(context.Background(), from, 3)
		if err != nil || len(notes) > 4 {
			t.Fatalf("%d at once, %v", len(notes), err)
		}
		got = append(got, notes...)
		if next == "" {
			break
		}
		from = next
	}
	if len(got) != 20 || got[19].Cell != (Cell{"row9", app("c")}) || got[19].Observer != "p" {
		t.Errorf("got %v", got)
	}
}

func TestRunGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := openMem(t, Groups("app"))
		defer closeTable(t, table)
		db := open(t, table, Options{})
		defer db.Close()
		attempts := 0
		_, err := db.Run(context.Background(), func(tx *Txn) error {
			attempts++
			return &ConflictError{Reason: "written"}
		})
		if attempts != maxAttempts || !errors.Is(err, ErrConflict) {
			t.Errorf("%d attempts, %v", attempts, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := db.Run(ctx, func(*Txn) error { return ErrConflict }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		sentinel := errors.New("mine")
		if _, err := db.Run(context.Background(), func(*Txn) error { return sentinel }); !errors.Is(err, sentinel) {
			t.Errorf("got %v", err)
		}
	})
}

// Once the commit point is near, the end of the context neither makes the outcome
// unknown nor leaves locks.
func TestContextEndsDuringCommit(t *testing.T) {
	for _, step := range []string{stepPrewrite, stepCommitTS, stepNotify, stepCommitPrimary, stepCommitSecondary, stepUnnotify} {
		t.Run(step, func(t *testing.T) {
			table := openMem(t, Groups("app"))
			defer closeTable(t, table)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			db := open(t, table, Options{Mode: TwoPhase, Step: func(s string, _ Cell) error {
				if s == step {
					cancel()
				}
				return nil
			}})
			defer db.Close()
			tx := mustBegin(t, db)
			for i := range 3 {
				tx.Set(fmt.Sprint("row", i), app("c"), nil)
			}
			tx.AddTrigger(Trigger{Cell: Cell{"row0", app("c")}, Observer: "o", TS: 1, Strong: true})
			_, err := tx.Commit(ctx)
			if committed := step == stepCommitSecondary || step == stepUnnotify; committed != (err == nil) || errors.Is(err, ErrUnknown) {
				t.Errorf("commit said %v", err)
			}
			lines, err := readShown(table)
			if err != nil || slices.ContainsFunc(lines, func(l *shown) bool { return l.text[showLock] != "" }) {
				t.Errorf("a lock stays: %v", err)
			}
		})
	}
}
