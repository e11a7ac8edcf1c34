package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/webindexer/indexer/store"
)

// Txn is one transaction. It is used by one goroutine at a time. Reads see the
// state at its start timestamp and its own writes; writes are buffered until
// Commit. A Txn that is not committed must be ended with Rollback.
type Txn struct {
	db    *DB
	start uint64
	snap  store.Snapshot // of the whole table, opened at the first read; nil without the capability

	writes    writeSet
	notes     []note        // without repetition
	noted     map[note]bool // whether the note is urgent
	continues map[note]bool // the notes of Continue
	triggers  []Trigger
	handled   []note // that the writes must not send

	strongColumns []Column // of the strong triggers, without repetition

	locks    writeSet // got for update
	lockOnly *write   // the primary, in two phases, if it is only a trigger

	cells readCache
	rows  map[rowGroup][]Version // read cache of whole rows
	// Cells and ranges that were read ahead and not used yet (readahead.go). Ranges are keyed by their first row.
	ahead      map[Cell]Value
	scansAhead map[string]*scanAhead

	hold hold // protects the versions that it reads from collection

	after []func() // to be called once it has committed

	readOnly bool // made by At
	done     bool
	barred   error // why At cannot read
}

// write is a buffered write.
type write struct {
	cell    Cell
	op      op
	value   []byte
	created bool // Create: the cell has no older version
}

// note is a notification to be sent.
type note struct {
	cell     Cell
	observer string
}

// rowGroup names the columns of a row in one locality group.
type rowGroup struct {
	row, group string
}

// Begin starts a transaction whose snapshot is this moment: it sees every commit that was
// acknowledged before the call.
func (db *DB) Begin(ctx context.Context) (*Txn, error) {
	t := &Txn{db: db}
	db.point.readers.enter(&t.hold) // before the timestamp is taken
	var err error
	if t.start, err = db.next(ctx); err != nil {
		t.hold.leave()
		return nil, fmt.Errorf("txn: begin: %w", err)
	}
	t.hold.at(t.start)
	db.counters.Begun.Add(1)
	db.running.Add(1)
	return t, nil
}

// At starts a transaction for reading at an earlier timestamp: the start or
// commit timestamp of a transaction that has ended, or LastTimestamp. It sees a
// transaction that committed at exactly this timestamp. It cannot commit,
// and must be ended with Rollback. Below the safe point its reads fail with an
// error that matches ErrBelowSafePoint; Hold prevents that for the present and for later
// timestamps.
func (db *DB) At(start uint64) *Txn {
	// 0 would mean "no bound" to the store; no timestamp is 0 or 1.
	t := &Txn{db: db, start: max(start, 1), readOnly: true}
	t.barred = db.point.register(&t.hold, t.start)
	return t
}

// readable returns the reason why the transaction cannot read, or nil.
func (t *Txn) readable() error {
	if t.done {
		return ErrDone
	}
	return t.barred
}

// Shared reports whether several processes share the table, so that each look-up may take
// milliseconds ([Txn.ReadAhead]).
func (t *Txn) Shared() bool { return t.db.shared != nil }

// Start is the start timestamp: the transaction sees every commit below it.
func (t *Txn) Start() uint64 { return t.start }

// AfterCommit has fn called when the transaction has committed, in the goroutine of Commit, before
// that returns. If the outcome of the commit is unknown, or the process ends first, fn is not
// called. So AfterCommit is for state that only this process needs, such as counters.
func (t *Txn) AfterCommit(fn func()) { t.after = append(t.after, fn) }

func (t *Txn) committed() {
	for _, fn := range t.after {
		fn()
	}
}

// Set buffers a write. The value is not copied: do not change it afterwards.
func (t *Txn) Set(row string, c Column, value []byte) {
	t.put(Cell{row, c}, opPut, value)
}

// Create is Set for a cell that has no value, as the caller knows without having read it.
// It saves garbage collection from visiting the cell. If the cell has a value after all,
// Create replaces it like Set, and the old version stays until all garbage is collected
// (DB.Collect).
func (t *Txn) Create(row string, c Column, value []byte) {
	cell := Cell{row, c}
	if t.writes.get(cell) == nil {
		t.writes.add(write{cell: cell, op: opPut, value: value, created: true})
		return
	}
	t.put(cell, opPut, value)
}

// Delete buffers the removal of a cell.
func (t *Txn) Delete(row string, c Column) {
	t.put(Cell{row, c}, opDelete, nil)
}

func (t *Txn) put(cell Cell, o op, value []byte) {
	if w := t.writes.get(cell); w != nil {
		w.op, w.value = o, value
		return
	}
	t.writes.add(write{cell: cell, op: o, value: value})
}

// Notify sends a weak notification: it wakes the observers of the column, at
// this row, without writing the column. So two transactions that notify the same
// row never conflict (paper, section 2.4).
func (t *Txn) Notify(row string, c Column) {
	for _, o := range t.db.observers(c) {
		t.wake(Cell{row, c}, o, true)
	}
}

// NotifyDeferrable is Notify for work that is not urgent. In the table it is the same
// notification. In memory it is marked (Notification.Deferrable), so that package notify
// may collapse it with others for longer.
func (t *Txn) NotifyDeferrable(row string, c Column) {
	for _, o := range t.db.observers(c) {
		t.wake(Cell{row, c}, o, false)
	}
}

// Continue is Notify for an observer that has not finished a row and asks for
// another run. In the table it is the same notification. In memory it
// is marked (Notification.Continues), so that package notify runs the
// row again without a debounce.
func (t *Txn) Continue(row string, c Column) {
	t.Notify(row, c)
	for _, o := range t.db.observers(c) {
		if t.continues == nil {
			t.continues = make(map[note]bool)
		}
		t.continues[note{Cell{row, c}, o}] = true
	}
}

func (t *Txn) wake(c Cell, observer string, urgent bool) {
	n := note{c, observer}
	if t.noted == nil {
		t.noted = make(map[note]bool)
	}
	was, known := t.noted[n]
	if !known {
		t.notes = append(t.notes, n)
	}
	if !known || urgent && !was {
		t.noted[n] = urgent
	}
}

func (db *DB) observers(c Column) []string {
	if db.opts.Observers == nil {
		return nil
	}
	return db.opts.Observers(c)
}

// Rollback ends the transaction without writing anything. It may follow a
// Commit, and then does nothing.
func (t *Txn) Rollback() { t.end() }

func (t *Txn) end() {
	if !t.done && !t.readOnly {
		t.db.running.Add(-1)
	}
	t.done = true
	t.writes.release()
	t.locks.release()
	t.closeSnapshot()
	t.hold.leave()
}

func (t *Txn) closeSnapshot() {
	if t.snap != nil {
		t.snap.Close()
		t.snap = nil
	}
}

// Commit writes everything at one commit timestamp, above those of all
// transactions that were acknowledged so far, and returns it. A transaction
// that wrote nothing commits at its start timestamp. The error is ErrConflict
// (nothing happened), ErrUnknown, or an error of the store (nothing happened).
// With an error the timestamp is 0, with one exception: Options.Step stopped a
// transaction that had committed already. The transaction has ended in any case.
//
// Near the commit point, the end of ctx no longer stops the commit: stopping
// would only leave an unknown outcome, and locks for other transactions to resolve.
func (t *Txn) Commit(ctx context.Context) (uint64, error) {
	if t.done || t.readOnly {
		return 0, ErrDone
	}
	defer t.end()
	for _, w := range t.writes.order {
		for _, o := range t.db.observers(w.cell.Column) {
			if !slices.Contains(t.handled, note{w.cell, o}) {
				t.wake(w.cell, o, true)
			}
		}
	}
	if len(t.writes.order) == 0 && len(t.notes) == 0 && len(t.triggers) == 0 && len(t.locks.order) == 0 {
		t.committed()
		return t.start, nil
	}
	if err := t.check(ctx); err != nil {
		return 0, err
	}
	commit, err := t.commit(ctx)
	t.tellWritten(commit, err)
	if commit != 0 {
		t.db.counters.Committed.Add(1)
		t.queueGarbage(commit)
		t.committed()
	}
	if err != nil {
		return commit, err
	}
	return commit, t.handover(commit)
}

// tellWritten passes the writes on to Options.Written, unless they have not happened.
func (t *Txn) tellWritten(commit uint64, err error) {
	if t.db.opts.Written == nil {
		return
	}
	if errors.Is(err, ErrUnknown) {
		commit = t.db.LastTimestamp()
	}
	if commit == 0 {
		return
	}
	t.db.opts.Written(commit, func(yield func(Cell) bool) {
		for _, w := range t.writes.order {
			if !yield(w.cell) {
				return
			}
		}
	})
}

// check refuses writes that the store could not return on a later read.
func (t *Txn) check(ctx context.Context) error {
	for _, list := range [...][]*write{t.writes.order, t.locks.order} {
		for _, w := range list {
			if strings.HasPrefix(w.cell.Group, "~") {
				return fmt.Errorf("txn: commit: %s: locality groups that start with ~ are reserved", w.cell)
			}
		}
	}
	for _, n := range t.notes {
		if err := checkObserver(n.observer, n.cell); err != nil {
			return err
		}
	}
	for _, tr := range t.triggers {
		if err := checkObserver(tr.Observer, tr.Cell); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// checkObserver refuses a name with a zero byte, which ends the name in column names.
func checkObserver(name string, c Cell) error {
	if strings.Contains(name, "\x00") {
		return fmt.Errorf("txn: commit: observer %q of %s: its name must not hold a zero byte", name, c)
	}
	return nil
}

func (t *Txn) commit(ctx context.Context) (uint64, error) {
	if t.db.mode == OnePhase {
		commit, err := t.commitOnePhase(ctx)
		if !errors.Is(err, store.ErrTooLarge) {
			return commit, err
		}
		t.db.counters.TooLargeForOnePhase.Add(1)
	}
	commit, err := t.commitTwoPhase(ctx)
	return commit, asTooLarge(err)
}

// handover tells the observers' workers in memory. The notifications are already
// in the table, so losing this call costs time, not work.
func (t *Txn) handover(commit uint64) error {
	if t.db.opts.Handover == nil || len(t.notes) == 0 {
		return nil
	}
	if err := t.db.step(stepHandover, Cell{}); err != nil {
		return err
	}
	notes := make([]Notification, 0, len(t.notes))
	for _, n := range t.notes {
		notes = append(notes, Notification{Cell: n.cell, Observer: n.observer, TS: commit, Continues: t.continues[n], Deferrable: !t.noted[n]})
	}
	t.db.opts.Handover(notes)
	return nil
}
