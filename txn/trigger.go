package txn

import (
	"slices"

	"github.com/webindexer/indexer/store"
)

// Trigger makes a transaction an observer's run: its commit removes the handled notification
// and, for a strong observer, acknowledges the run, so that at most one run commits for each
// change (paper, section 2.4).
type Trigger struct {
	Cell     Cell
	Observer string
	// TS is the notification's timestamp as it was found before the
	// transaction began.
	TS uint64
	// Strong requests the acknowledgement. A weak notification needs none: its
	// observer may run several times.
	Strong bool
}

// AddTrigger adds a trigger. It must have been found before the transaction began: the
// commit removes notifications up to the start timestamp, and the transaction's snapshot
// includes every transaction that sent one up to there.
func (t *Txn) AddTrigger(tr Trigger) {
	t.triggers = append(t.triggers, tr)
	if tr.Strong && !slices.Contains(t.strongColumns, tr.Cell.Column) {
		t.strongColumns = append(t.strongColumns, tr.Cell.Column)
	}
}

// Handled says that this transaction does itself what an observer would do after its write
// of a cell. So the write does not wake that observer. A notification by Notify still
// does.
//
// It saves a notification and a run, but gives the caller a duty: the transaction must
// conflict with every run of the observer that could undo its work, by writing what the
// observer writes.
func (t *Txn) Handled(row string, c Column, observer string) {
	t.handled = append(t.handled, note{Cell{row, c}, observer})
}

// strongAt lists the observers that this transaction acknowledges at a cell. It is called
// for every written cell, and a run has many triggers in few columns, so for nearly all
// cells the column alone decides.
func (t *Txn) strongAt(c Cell) []string {
	if !slices.Contains(t.strongColumns, c.Column) {
		return nil
	}
	var names []string
	for _, tr := range t.triggers {
		if tr.Strong && tr.Cell == c {
			names = append(names, tr.Observer)
		}
	}
	return names
}

// ackGuards refuse the transaction if another run has acknowledged one of its
// triggers at this cell since the notification was sent.
func (t *Txn) ackGuards(c Cell) []store.Selector {
	if !slices.Contains(t.strongColumns, c.Column) {
		return nil
	}
	var guards []store.Selector
	for _, tr := range t.triggers {
		if tr.Strong && tr.Cell == c {
			guards = append(guards, store.Selector{Group: ackGroup, Column: observerColumn(c.Column, tr.Observer), MinTS: tr.TS})
		}
	}
	return guards
}
