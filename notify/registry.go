package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/txn"
)

// Observer is code that watches a column.
type Observer struct {
	// Name identifies the observer in the table, in messages and in metrics.
	// Renaming one orphans its notifications and acknowledgements.
	Name string
	// Replaces names observers of earlier versions of the application that this one
	// replaces. It takes over their notifications that are still in the table.
	Replaces []string
	// Watches is the observed column. Several observers may watch one column. Changing it
	// orphans notifications and acknowledgements as renaming does.
	Watches txn.Column
	// Weak observers acknowledge nothing: they may run several times for one change. Use it for
	// columns that get weak notifications, and for observers that depend only on the present
	// state.
	Weak bool
	// Batch is the maximum number of rows in one run, and so in one transaction. If it is
	// more than one, a conflict or a failure splits the batch into halves.
	Batch int
	// Linger is how long a row waits for others of its batch while a loader is at work
	// (linger.go). 0: it does not.
	Linger time.Duration
	// Debounce combines the notifications of a row while Upstream is busy: the
	// row is run no earlier than Debounce after its last run (or, the first time,
	// FirstDebounce after it was notified), but at once when Upstream is idle.
	Debounce time.Duration
	// FirstDebounce is for rows that have not run for some time. Zero: a fifth of Debounce.
	FirstDebounce time.Duration
	// Cooldown is the length of the observer's cooldown, as a multiple of the duration of its
	// runs: until then, debounced rows stay debounced (cooldown.go). It is for observers whose
	// runs cost nearly the same for few rows as for many. MaxCooldown bounds a cooldown.
	Cooldown    float64
	MaxCooldown time.Duration
	// CooldownWhenIdle: an idle Upstream does not end a cooldown; only a caller that waits for the
	// queue to empty does. It is for observers whose work is not urgent.
	CooldownWhenIdle bool
	// DeferRows, in addition to Debounce, delays rows whose notifications were all
	// deferrable (txn.Txn.NotifyDeferrable) until that many rows have gone through
	// Upstream (or a quarter of the rows that went before, if that is more), but for
	// no longer than MaxDefer (deferrable.go). 0: no such delay.
	DeferRows int64
	MaxDefer  time.Duration
	// Spare lets a worker that has nothing else to do run debounced rows of this observer
	// at once, although Upstream is busy: only rows with an urgent notification, not
	// deferrable ones (spare.go).
	Spare bool
	// Upstream names the observers whose runs, directly or through other observers,
	// notify this one. It includes the observers upstream of those.
	Upstream []string
	// IdleAfter is how long Upstream must have had no work to count as idle;
	// zero: any moment counts.
	IdleAfter time.Duration
	// Exclusive observers run one batch at a time, however many workers there are. This is for
	// runs that write to many rows besides those that woke them, and would conflict there; see
	// limits.go. It avoids conflicts but guarantees nothing: transactions have to be correct
	// without it.
	Exclusive bool
	// Lease names what a process must hold to run this observer, if several processes share
	// the table; "" for an observer that any process may run. Observers with the same lease
	// run in the same process. This is for observers that write to something outside the
	// table, or keep state between runs.
	Lease string
	// Shards divides the rows among several leases; nil: Lease holds for all rows.
	Shards *Shards
	// MaxOpen bounds how many rows may be in the middle of a continuation
	// (txn.Txn.Continue) at a time; further rows wait. Zero means no bound. A running batch
	// counts as one row. A restart or an overflow of the queue forgets which rows
	// were open, so an observer must be correct when further rows are begun.
	MaxOpen int
	// Run does the work for at least one row and at most Batch rows, in a
	// transaction that it must neither commit nor roll back. If there is nothing to
	// do, it writes nothing. An error or a panic is retried, unless the error matches
	// ErrFatal.
	Run func(ctx context.Context, tx *txn.Txn, rows []string) error
}

// Shards are leases among which the rows of an observer are divided. Which lease a row belongs
// to never changes. A run may have rows of several leases, and is under all of them.
type Shards struct {
	Leases []string
	Of     func(row string) int // in Leases
}

// leased reports whether only the holder of a lease may run the observer.
func (o *Observer) leased() bool { return o.Lease != "" || o.Shards != nil }

// leases are all leases of the observer.
func (o *Observer) leases() []string {
	if o.Shards != nil {
		return o.Shards.Leases
	}
	return []string{o.Lease}
}

// LeaseOf is the lease under which a row is run; "" if none is needed.
func (o *Observer) LeaseOf(row string) string {
	if o.Shards != nil {
		return o.Shards.Leases[o.Shards.Of(row)]
	}
	return o.Lease
}

// Registry holds the observers of an application. Their order has no meaning.
type Registry struct {
	list       []Observer
	byName     map[string]int
	byColumn   map[txn.Column][]string
	replaced   map[string]txn.Column // by a name in Replaces, the column that its replacement watches
	upstream   [][]int               // of each observer, all that are upstream of it
	downstream [][]int               // the inverse
}

// maxName bounds the names of observers, because they are part of keys.
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
		if o.Cooldown < 0 || o.Cooldown > 0 && (o.Debounce <= 0 || o.MaxCooldown <= 0) {
			return nil, fmt.Errorf("notify: observer %q has a Cooldown of %v: a Cooldown must be positive, and needs a Debounce and a MaxCooldown", o.Name, o.Cooldown)
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

// linkUpstream resolves the names in Upstream, including the observers upstream of those. A
// cycle is an error: its observers would wait for each other when a caller waits
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

// Observers names the observers of a column; it is the value for txn.Options.Observers.
func (r *Registry) Observers(c txn.Column) []string { return r.byColumn[c] }

// Leased reports whether only the holder of a lease may run an observer; it is the value for
// txn.Options.Leased.
func (r *Registry) Leased(observer string) bool {
	i, ok := r.byName[observer]
	return ok && r.list[i].leased()
}

// List returns the observers in the order of registration.
func (r *Registry) List() []Observer { return slices.Clone(r.list) }
