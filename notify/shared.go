package notify

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/txn"
)

// A table may be shared by several processes (txn.DB.Shared), each with a pipeline of its
// own. The table is then all that the pipelines have in common, and the queue holds only
// what this process has found, or has committed itself:
//
//   - Each process scans the table all the time, from random places, for notifications of
//     others (randomscan.go). This is the paper's section 2.4.
//   - Before a run, the rows are locked for the process, and a row whose notification has
//     gone from the table is not run again (claim.go). The locks are advisory. Two runs of
//     one row do no harm: an acknowledgement admits one, and weak observers may run twice.
//   - Observers with a Lease run in the process that holds the lease, and in no other. That
//     process scans the whole table for them (leasedscan.go), and debounces as in a table of
//     its own. Their notifications have a group of their own (txn/leased.go), so the other
//     processes need not read past them.
//   - The table tells whether all work is done (txn.DB.Quiescent), and how long the
//     backlog is that loaders wait for (sharedadmit.go).
//   - Notifications of observers that this process does not know stay in the table: another
//     version of the program, or one with a crawl, may know them.
//
// None of this runs in the only process of a table.

// Leases say which process runs the observers with a Lease. Package lease implements it.
type Leases interface {
	// Held reports whether this process may run observers with this lease.
	Held(lease string) bool
	// Enter begins a run under a lease, before its transaction begins. It returns ErrNotHeld
	// if this process does not hold the lease.
	Enter(ctx context.Context, lease string) (LeasedRun, error)
}

// LeasedRun is a run under a lease.
type LeasedRun interface {
	// Guard makes the transaction of the run commit only if this process still holds the
	// lease at its commit. It returns ErrNotHeld if the process does not hold it now.
	Guard(ctx context.Context, tx *txn.Txn) error
	// Leave ends the run, after its transaction.
	Leave()
}

// noLeases holds nothing.
type noLeases struct{}

func (noLeases) Held(string) bool                                 { return false }
func (noLeases) Enter(context.Context, string) (LeasedRun, error) { return nil, ErrNotHeld }

// shared is the state that only a pipeline on a shared table has.
type shared struct {
	locks  txn.RowLocks
	leases Leases
	places places
	admit  admission
	// lastStoreFailure is when the store last failed outside a run of an observer, in nanoseconds
	// since 1970.
	lastStoreFailure atomic.Int64
}

// For storeFailureLasts after a failure of the store, failures of observers are attributed to
// it.
const storeFailureLasts = time.Minute

// noteStoreFailure records and reports that the store has failed.
func (p *Pipeline) noteStoreFailure(err error) {
	p.shared.lastStoreFailure.Store(time.Now().UnixNano())
	if p.opts.Events.StoreFailed != nil {
		p.opts.Events.StoreFailed(err)
	}
}

// storeFailedLately reports whether a run may have failed because of the store, and not because of
// a row. A remote store may be down for hours, and the rows that could not run meanwhile must not
// become dead letters.
func (p *Pipeline) storeFailedLately() bool {
	return p.shared != nil && time.Since(time.Unix(0, p.shared.lastStoreFailure.Load())) < storeFailureLasts
}

// Attach connects the pipeline to a table without running observers, for a process that
// only loads or reads: Admit, Quiesce and the functions for dead letters work. The
// transactions of the process send their notifications to the table, where others find
// them. Stop ends it.
func (p *Pipeline) Attach(ctx context.Context, db *txn.DB) error {
	p.passive = true
	return p.attach(ctx, db)
}

// mine reports whether this process runs an observer on a row now.
func (p *Pipeline) mine(o *Observer, row string) bool {
	return p.shared == nil || !o.leased() || p.shared.leases.Held(o.LeaseOf(row))
}

// ours keeps the notifications of observers that this process runs now.
func (p *Pipeline) ours(notes []txn.Notification) []txn.Notification {
	if p.shared == nil {
		return notes
	}
	kept := make([]txn.Notification, 0, len(notes))
	for _, n := range notes {
		if o := p.registry.observer(n); o != nil && p.mine(o, n.Cell.Row) {
			kept = append(kept, n)
		}
	}
	return kept
}

// observer returns the observer of a notification, nil if there is none.
func (r *Registry) observer(n txn.Notification) *Observer {
	i, ok := r.byName[n.Observer]
	if !ok || r.list[i].Watches != n.Cell.Column {
		return nil
	}
	return &r.list[i]
}

// startShared starts to look for notifications of other processes.
func (p *Pipeline) startShared(ctx context.Context) {
	p.work.Go(func() { p.scanRandomly(ctx) })
	p.work.Go(func() { p.scanLeased(ctx) })
}
