package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"indexer/txn"
)

// Observer is code that watches a column.
type Observer struct {
	// Name identifies the observer in the table, in messages and in metrics.
	// Renaming one orphans its notifications and acknowledgements.
	Name string
	// Watches is the observed column. Several observers may watch one column.
	Watches txn.Column
	// Weak observers acknowledge nothing: they may run several times for one
	// change. It is for columns that get weak notifications, or whose observer
	// only looks at the present state.
	Weak bool
	// Batch is how many rows one run, and so one transaction, may take. With more
	// than one a conflict or a failure splits the batch into single rows.
	Batch int
	// Hold lets notifications of a row gather while the observers registered
	// before this one are busy: the row is run at the earliest Hold after it was
	// last run (or, for the first time, a fifth of Hold after it was notified),
	// and at once when they are idle. For work that is worth collapsing.
	Hold time.Duration
	// Linger is how long the observers before must have been idle for it to count;
	// zero: any moment does.
	Linger time.Duration
	// Solo lets only one run of the observer be under way at a time, however many
	// workers there are: for one whose runs write to many rows beside those they were
	// woken for, and would meet there; see solo.go. It saves conflicts and is no promise
	// to build on: transactions have to be right without it.
	Solo bool
	// Run does the work for some rows, at least one and at most Batch, in a
	// transaction that it must neither commit nor roll back. It may find nothing to
	// do: then it writes nothing. An error or a panic is retried; see ErrFatal for
	// the other kind.
	Run func(ctx context.Context, tx *txn.Txn, rows []string) error
}

// Registry holds the observers of an application, in pipeline order.
type Registry struct {
	list     []Observer
	byName   map[string]int
	byColumn map[txn.Column][]string
}

// maxName bounds the names of observers: they are part of keys.
const maxName = 256

// NewRegistry checks and registers observers.
func NewRegistry(list ...Observer) (*Registry, error) {
	r := &Registry{byName: make(map[string]int), byColumn: make(map[txn.Column][]string)}
	for i, o := range list {
		if o.Name == "" || strings.ContainsRune(o.Name, 0) {
			return nil, fmt.Errorf("notify: observer %d: the name %q is empty or holds a zero byte", i, o.Name)
		}
		if _, dup := r.byName[o.Name]; dup {
			return nil, fmt.Errorf("notify: two observers are called %q", o.Name)
		}
		if o.Run == nil {
			return nil, fmt.Errorf("notify: observer %q has no Run", o.Name)
		}
		if len(o.Name) > maxName {
			return nil, fmt.Errorf("notify: observer %q: the name is longer than %d bytes", o.Name, maxName)
		}
		if o.Watches.Group == "" || o.Watches.Name == "" {
			return nil, fmt.Errorf("notify: observer %q watches no column", o.Name)
		}
		o.Batch = max(o.Batch, 1)
		r.list = append(r.list, o)
		r.byName[o.Name] = i
		r.byColumn[o.Watches] = append(r.byColumn[o.Watches], o.Name)
	}
	return r, nil
}

// Observers names the observers of a column; it is what txn.Options.Observers
// wants.
func (r *Registry) Observers(c txn.Column) []string { return r.byColumn[c] }

// List returns the observers in the order of registration.
func (r *Registry) List() []Observer { return slices.Clone(r.list) }
