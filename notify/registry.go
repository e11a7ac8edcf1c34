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
	// Replaces names observers of earlier versions of the application that this one
	// stands in for. Their notifications that are still in the table become its own.
	Replaces []string
	// Watches is the observed column. Several observers may watch one column.
	Watches txn.Column
	// Weak observers acknowledge nothing: they may run several times for one
	// change. It is for columns that get weak notifications, or whose observer
	// only looks at the present state.
	Weak bool
	// Batch is how many rows one run, and so one transaction, may take. With more
	// than one a conflict or a failure splits the batch into single rows.
	Batch int
	// Debounce collapses the notifications of a row while Upstream is busy: the
	// row is run at the earliest Debounce after its last run (or, the first time, a
	// fifth of Debounce after it was notified), and at once when Upstream is idle.
	Debounce time.Duration
	// Upstream names the observers whose work, directly or through others, brings
	// notifications to this one. What is upstream of them is upstream of it, too.
	Upstream []string
	// IdleAfter is how long Upstream must have had nothing to do to count as idle;
	// zero: any moment does.
	IdleAfter time.Duration
	// Exclusive observers run one batch at a time, however many workers there are:
	// for runs that write to many rows beside those they were woken for, and would
	// conflict there; see limits.go. It saves conflicts and is no promise to build
	// on: transactions have to be right without it.
	Exclusive bool
	// MaxOpen bounds how many rows may be in the middle of a continuation
	// (txn.Txn.Continue) at a time; others wait. Zero: no bound. A batch under way
	// counts as one row. A restart or an overflow of the queue forgets which rows
	// were open, so an observer must be right when others are begun.
	MaxOpen int
	// Run does the work for some rows, at least one and at most Batch, in a
	// transaction that it must neither commit nor roll back. It may find nothing to
	// do: then it writes nothing. An error or a panic is retried; see ErrFatal for
	// the other kind.
	Run func(ctx context.Context, tx *txn.Txn, rows []string) error
}

// Registry holds the observers of an application. Their order means nothing.
type Registry struct {
	list       []Observer
	byName     map[string]int
	byColumn   map[txn.Column][]string
	replaced   map[string]txn.Column // by the names in Replaces, what stands in for them watches
	upstream   [][]int               // of each observer, all that are upstream of it
	downstream [][]int               // the inverse
}

// maxName bounds the names of observers: they are part of keys.
const maxName = 256

// NewRegistry checks and registers observers.
func NewRegistry(list ...Observer) (*Registry, error) {
	r := &Registry{byName: make(map[string]int), byColumn: make(map[txn.Column][]string), replaced: make(map[string]txn.Column)}
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
		for _, name := range o.Replaces {
			r.replaced[name] = o.Watches
		}
	}
	return r, r.linkUpstream()
}

// linkUpstream resolves the names in Upstream, and what is upstream of those. A
// cycle is refused: its observers would wait for each other when a caller waits
// for all of them (idleness).
func (r *Registry) linkUpstream() error {
	r.upstream, r.downstream = make([][]int, len(r.list)), make([][]int, len(r.list))
	for i, o := range r.list {
		seen := make(map[int]bool)
		if err := r.collectUpstream(i, seen); err != nil {
			return err
		}
		if seen[i] {
			return fmt.Errorf("notify: observer %q is upstream of itself", o.Name)
		}
		for j := range seen {
			r.upstream[i] = append(r.upstream[i], j)
			r.downstream[j] = append(r.downstream[j], i)
		}
	}
	return nil
}

func (r *Registry) collectUpstream(i int, seen map[int]bool) error {
	for _, name := range r.list[i].Upstream {
		j, ok := r.byName[name]
		if !ok {
			return fmt.Errorf("notify: upstream of observer %q: there is no observer %q", r.list[i].Name, name)
		}
		if seen[j] {
			continue
		}
		seen[j] = true
		if err := r.collectUpstream(j, seen); err != nil {
			return err
		}
	}
	return nil
}

// Observers names the observers of a column; it is what txn.Options.Observers
// wants.
func (r *Registry) Observers(c txn.Column) []string { return r.byColumn[c] }

// List returns the observers in the order of registration.
func (r *Registry) List() []Observer { return slices.Clone(r.list) }
