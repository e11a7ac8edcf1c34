package txn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
)

// TestSteps goes through the table of failpoints. At each of them, each time that the
// scenario reaches it, the process dies. Then the test inspects the table, and a new
// process opens it. Everything must be as the list says: all or nothing, no lock left,
// no notification lost, and no obstacle to the next transaction.
func TestSteps(t *testing.T) {
	for _, s := range Steps() {
		for _, e := range engines {
			t.Run(s.Name+"/"+e.name, func(t *testing.T) {
				if strings.HasPrefix(s.Name, "group-") && e.name != "badger" {
					t.Skip("a failpoint of the other store")
				}
				times := 0
				for died := true; died; times++ {
					w := &stepWalk{t: t, step: s, engine: e.name, nth: times + 1}
					died = w.run()
				}
				if times < 2 {
					t.Errorf("the scenario never came by %s", s.Name)
				}
			})
		}
	}
}

// stepWalk is one run of the scenario, that dies at the nth visit of a step.
//
// The scenario is a run of an observer: it answers a notification on alice's
// balance, moves money to bob, which wakes the observer again, writes a long note,
// gets carol for update, and wakes an observer weakly.
type stepWalk struct {
	t      *testing.T
	step   Step
	engine string
	nth    int

	seen  int
	died  bool
	armed bool
}

var errWalkConflict = errors.New("conflict")

const stepBeforeStranger, stepBeforeForward = stepCommitTS, stepPrimaryCommitted

func (w *stepWalk) mode() Mode {
	if w.step.Name == stepCommitBatch || w.step.Name == stepBatchCommitted || strings.HasPrefix(w.step.Name, "group-") {
		return OnePhase
	}
	return TwoPhase
}

func (w *stepWalk) options() Options {
	return Options{
		Mode: w.mode(), Handover: func([]Notification) {}, inline: 100,
		Observers: func(c Column) []string {
			if c.Name == "balance" || c.Name == "weak" {
				return []string{"o"}
			}
			return nil
		},
	}
}

// visit is the Step of everything.
func (w *stepWalk) visit(name string, cell Cell) error {
	if !w.armed || w.died {
		return nil
	}
	if name == w.step.Name {
		if w.seen++; w.seen == w.nth {
			w.died = true
			return ErrCrash
		}
	}
	// What must fail first for the scenario to reach the step.
	switch {
	case w.step.Name == stepUndo && name == stepCommitPrimary,
		(w.step.Name == stepResolvePrimary || w.step.Name == stepResolveBack) && name == stepBeforeStranger,
		w.step.Name == stepResolveForward && name == stepBeforeForward:
		if w.step.Name == stepUndo {
			return errWalkConflict
		}
		return ErrCrash
	}
	return nil
}

func (w *stepWalk) openTable(dir string) store.Table {
	table, err := badgerdb.Open(dir, Groups("app"), badgerdb.Options{MinFreeBytes: -1, Step: func(step string) error { return w.visit(step, Cell{}) }})
	if err != nil {
		w.t.Fatal(err)
	}
	return table
}

func (w *stepWalk) run() (died bool) {
	ctx := context.Background()
	var table store.Table
	dir := w.t.TempDir()
	if w.engine == "badger" {
		table = w.openTable(dir)
	} else {
		table = openMem(w.t, Groups("app"))
	}
	db := open(w.t, table, w.options())
	if _, err := db.Run(ctx, func(tx *Txn) error {
		tx.Set("alice", app("balance"), []byte("100"))
		tx.Set("bob", app("balance"), []byte("0"))
		tx.Set("carol", app("balance"), []byte("0"))
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	notes, _, err := db.Notifications(ctx, "", 0)
	if err != nil || len(notes) != 3 {
		w.t.Fatal(notes, err)
	}
	w.close(db)

	opts := w.options()
	opts.Step = w.visit
	if w.step.Name == stepOracleRange || w.step.Name == stepOracleRangeWritten {
		opts.sizes = smallSizes
	}
	db = open(w.t, table, opts)
	w.armed = true
	commit, err := w.scenario(db, notes[0])
	if w.step.Name == stepOracleRange || w.step.Name == stepOracleRangeWritten {
		for i := 0; i < 60 && err == nil; i++ { // the range ends
			var tx *Txn
			if tx, err = db.Begin(ctx); err == nil {
				tx.Rollback()
			}
		}
	}
	if w.died && w.step.Committed && commit == 0 && !errors.Is(err, ErrUnknown) && !strings.HasPrefix(w.step.Name, "resolve-") {
		w.t.Errorf("visit %d: committed, says the table; the commit said %d, %v", w.nth, commit, err)
	}
	last := db.LastTimestamp()
	w.close(db)

	if strings.HasPrefix(w.step.Name, "resolve-") { // another transaction resolves the lock, and dies too
		opts.resolver = w.visit
		db = open(w.t, table, opts)
		_, err := db.ResolveAbandoned(ctx)
		if w.died != errors.Is(err, ErrCrash) {
			w.t.Errorf("the resolver: %v", err)
		}
		w.close(db)
	}
	w.armed = false
	if w.died {
		w.left(table)
	}
	if w.engine == "badger" {
		closeTable(w.t, table)
		table = w.openTable(dir)
	}
	w.check(table, last)
	closeTable(w.t, table)
	return w.died
}

func (w *stepWalk) close(db *DB) {
	if err := db.Close(); err != nil {
		w.t.Error(err)
	}
}

func (w *stepWalk) scenario(db *DB, n Notification) (uint64, error) {
	ctx := context.Background()
	tx, err := db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	tx.AddTrigger(Trigger{Cell: n.Cell, Observer: n.Observer, TS: n.TS, Strong: true})
	if _, err := tx.GetForUpdate(ctx, "carol", app("balance")); err != nil {
		return 0, err
	}
	tx.Set("alice", app("balance"), []byte("70"))
	tx.Set("bob", app("balance"), []byte("30"))
	tx.Set("note", app("note"), make([]byte, 300))
	tx.Notify("somewhere", app("weak"))
	return tx.Commit(ctx)
}

// left compares what is in the table with what the list of steps says.
func (w *stepWalk) left(table store.Table) {
	locks := 0
	_, err := table.Scan(context.Background(), store.Range{Group: lockGroup}, func(store.Cell) error { locks++; return nil })
	if err != nil {
		w.t.Error(err)
	}
	if locks > 0 && !w.step.Locks {
		w.t.Errorf("visit %d: %d locks are left, the table says none", w.nth, locks)
	}
	if w.step.Locks && locks == 0 && w.nth > 1 && !slices.Contains([]string{stepSecondaryCommitted, stepResolvePrimary, stepUndo}, w.step.Name) {
		w.t.Errorf("visit %d: no lock is left, the table says that there are", w.nth)
	}
}

// check is the next process.
func (w *stepWalk) check(table store.Table, last uint64) {
	ctx := context.Background()
	db := open(w.t, table, w.options())
	defer w.close(db)
	tx := mustBegin(w.t, db)
	defer tx.Rollback()
	if tx.Start() <= last {
		w.t.Errorf("visit %d: the next process starts at %d, the one before was at %d", w.nth, tx.Start(), last)
	}
	var got []string
	for _, row := range []string{"alice", "bob", "carol"} {
		v, err := tx.Get(ctx, row, app("balance"))
		if err != nil {
			w.t.Fatal(err)
		}
		got = append(got, string(v.Data))
	}
	note, err := tx.Get(ctx, "note", app("note"))
	committed := fmt.Sprint(got) == "[70 30 0]" && len(note.Data) == 300
	if err != nil || !committed && (fmt.Sprint(got) != "[100 0 0]" || note.Exists) {
		w.t.Fatalf("visit %d: balances %v, note %v, %v", w.nth, got, note.Exists, err)
	}
	want := w.step.Committed
	if !w.died || strings.HasPrefix(w.step.Name, "oracle-") {
		want = w.step.Name != stepUndo && w.step.Name != stepResolvePrimary && w.step.Name != stepResolveBack
	}
	if committed != want {
		w.t.Errorf("visit %d, died %v: committed %v, want %v", w.nth, w.died, committed, want)
	}
	w.checkNotifications(db, tx, committed)
	// Nothing blocks the next transaction: it writes everything at once.
	if _, err := db.Run(ctx, func(tx *Txn) error {
		for _, row := range []string{"alice", "bob", "carol"} {
			tx.Set(row, app("balance"), []byte("1"))
		}
		tx.Set("note", app("note"), nil)
		return nil
	}); err != nil {
		w.t.Errorf("visit %d: the next transaction: %v", w.nth, err)
	}
	if _, err := table.Scan(ctx, store.Range{Group: lockGroup}, func(c store.Cell) error {
		return fmt.Errorf("a lock stays in row %q", c.Row)
	}); err != nil {
		w.t.Errorf("visit %d: %v", w.nth, err)
	}
}

// checkNotifications: the trigger is acknowledged exactly if the run committed, and
// all that it wrote, and all that was not answered, waits for its observers.
func (w *stepWalk) checkNotifications(db *DB, tx *Txn, committed bool) {
	ctx := context.Background()
	ack, err := tx.Acknowledged(ctx, Cell{"alice", app("balance")}, "o")
	if err != nil || (ack != 0) != committed {
		w.t.Errorf("visit %d: acknowledged at %d, committed %v, %v", w.nth, ack, committed, err)
	}
	notes, _, err := db.Notifications(ctx, "", 0)
	if err != nil {
		w.t.Error(err)
	}
	rows := make(map[string]bool)
	for _, n := range notes {
		rows[n.Cell.Row] = true
	}
	for _, row := range []string{"alice", "bob", "carol"} {
		if !rows[row] {
			w.t.Errorf("visit %d: no notification of %s", w.nth, row)
		}
	}
	if committed && !rows["somewhere"] {
		w.t.Errorf("visit %d: the weak notification is lost", w.nth)
	}
}

// TestStepsInTheDocs: docs/transactions.md shows the same table.
func TestStepsInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/transactions.md")
	if err != nil {
		t.Fatal(err)
	}
	yes := map[bool]string{true: "yes", false: "no"}
	var b strings.Builder
	b.WriteString("| failpoint | the process dies | committed | locks | leaves | repaired by |\n|---|---|---|---|---|---|\n")
	for _, s := range Steps() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", s.Name, s.When, yes[s.Committed], yes[s.Locks], s.Leaves, s.Repair)
	}
	if !strings.Contains(string(text), b.String()) {
		t.Errorf("docs/transactions.md does not hold the table of steps.go:\n%s", b.String())
	}
}
