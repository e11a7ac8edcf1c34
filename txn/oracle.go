package txn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"indexer/store"
)

// The oracle hands out timestamps, strictly increasing, also across restarts:
// it persists a ceiling before it hands out anything below it, and starts at
// the persisted ceiling (paper, section 2.3).
//
// # The commit window
//
// The two-phase protocol is safe because a writer has its locks in the table
// before it asks for its commit timestamp: a reader with a later start
// timestamp finds the lock or the write. The one-phase path has no locks.
// Between taking the commit timestamp C of a batch and the batch becoming
// visible, a reader could get a start timestamp above C, look, and find nothing.
//
// So commit timestamps of a group of batches are taken from ahead: while a
// group is on its way, start timestamps come from a window below the group's
// first commit timestamp F, and the counter jumps over the group's timestamps
// when the group is visible:
//
//	next            F            F+n
//	 |--- window ---|--- group ---|
//	 starts handed    commit        where next goes on
//	 out meanwhile    timestamps    once the group is visible
//
// Proof that a reader with start S sees every commit C < S: C belongs to a
// group with first timestamp F <= C. S was handed out before that group was
// visible only if S < F <= C. So S > C means S was handed out after the group
// became visible, and the reader's snapshot of the store is taken after that.
// And a transaction that was acknowledged before another began is seen by it:
// the acknowledgement comes after Visible, which moves next above C.
//
// Commit timestamps of the two-phase path come from Next; they may lie in the
// window, and the paper's argument (locks first) holds for them. On one cell
// commits still follow the order of their timestamps: both paths check, in the
// store's one atomic step, that the cell has neither a lock nor a newer write.
//
// If the window is used up (usualSizes: 1,024 timestamps during one flush), Next
// waits for the flush. Rejected: registering keys in an in-memory lock table
// that readers consult (every read pays), and a snapshot timestamp that lags
// behind the start timestamp (two timestamps for one transaction in every rule
// that follows).
type Oracle struct {
	persist func(ctx context.Context, ceiling uint64) error

	mu      sync.Mutex
	sizes   oracleSizes
	free    *sync.Cond // signalled when the window closes or the ceiling rises
	next    uint64     // the next timestamp to hand out
	ceiling uint64     // persisted; everything handed out is below
	first   uint64     // F of the group on its way; 0 when there is none
	after   uint64     // where next goes on when the group is visible

	extending bool
	failed    error // of the last attempt to raise the ceiling
	closed    bool
	work      sync.WaitGroup
}

// oracleSizes are the bounds of an oracle, in timestamps.
type oracleSizes struct {
	// allocated with one write to the table.
	allocated uint64
	// window of start timestamps that can be handed out during one flush.
	window uint64
}

var usualSizes = oracleSizes{allocated: 1 << 26, window: 1 << 10}

var (
	oracleRow    = []byte("oracle")
	oracleColumn = []byte("ceiling")
)

// openOracle reads the persisted ceiling and allocates a first range above it.
func openOracle(ctx context.Context, table store.Table, sizes oracleSizes) (*Oracle, error) {
	cells, err := table.Read(ctx, oracleRow, store.Selector{Group: metaGroup, Column: oracleColumn})
	if err != nil {
		return nil, fmt.Errorf("txn: read the timestamp oracle's ceiling: %w", err)
	}
	ceiling := uint64(16) // 0 means "no bound" to the store
	if len(cells) > 0 {
		if len(cells[0].Value) != 8 {
			return nil, fmt.Errorf("txn: the timestamp oracle's ceiling has %d bytes, not 8: %w", len(cells[0].Value), store.ErrCorrupt)
		}
		ceiling = binary.BigEndian.Uint64(cells[0].Value)
	}
	return newOracle(ctx, ceiling, sizes, func(ctx context.Context, c uint64) error {
		return table.Apply(ctx, []store.RowMutation{{Row: oracleRow, Mutations: []store.Mutation{{
			Op: store.Put, Group: metaGroup, Column: oracleColumn, TS: c,
			Value: binary.BigEndian.AppendUint64(nil, c),
		}}}})
	})
}

// newOracle starts at a persisted ceiling; persist writes a new one durably.
func newOracle(ctx context.Context, ceiling uint64, sizes oracleSizes, persist func(context.Context, uint64) error) (*Oracle, error) {
	o := &Oracle{persist: persist, sizes: sizes, next: ceiling, ceiling: ceiling + sizes.allocated}
	o.free = sync.NewCond(&o.mu)
	if err := persist(ctx, o.ceiling); err != nil {
		return nil, fmt.Errorf("txn: persist the timestamp oracle's ceiling: %w", err)
	}
	return o, nil
}

// Next returns a timestamp greater than every one it returned before, in this
// process or an earlier one.
func (o *Oracle) Next(ctx context.Context) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for waited := false; ; waited = true {
		if o.closed {
			return 0, ErrClosed
		}
		if waited && o.next >= o.ceiling && !o.extending && o.failed != nil {
			return 0, fmt.Errorf("txn: out of timestamps: %w", o.failed)
		}
		o.extendIfLow()
		if o.next < o.ceiling && (o.first == 0 || o.next < o.first) {
			ts := o.next
			o.next++
			return ts, nil
		}
		if err := o.wait(ctx); err != nil {
			return 0, err
		}
	}
}

// wait waits for free, or for ctx to end. It is called with mu held.
func (o *Oracle) wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.free.Broadcast()
	})
	defer stop()
	o.free.Wait()
	return context.Cause(ctx)
}

// Last is the greatest start timestamp, or commit timestamp of a visible
// transaction, so far. Every Next and every Visible raises it: reserved
// timestamps count once they are visible, or two answers around the end of a
// flush would be equal although something was committed in between.
func (o *Oracle) Last() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.next - 1
}

var errOracleRange = errors.New("txn: timestamp range used up; the next one is being allocated")

// Reserve implements store.Clock: n commit timestamps from beyond the window.
func (o *Oracle) Reserve(n int) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.extendIfLow()
	first := o.next + o.sizes.window
	if first+uint64(n) > o.ceiling {
		// This runs in the store's committer, through which the new ceiling has
		// to pass: waiting here would wait for ourselves.
		return 0, errors.Join(errOracleRange, o.failed)
	}
	o.first, o.after = first, first+uint64(n)
	return first, nil
}

// Visible implements store.Clock: the reserved commits can be read now.
func (o *Oracle) Visible() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.next, o.first, o.after = o.after, 0, 0
	o.free.Broadcast()
}

// extendIfLow starts raising the ceiling when half of the range is used. It is
// called with mu held.
func (o *Oracle) extendIfLow() {
	if o.extending || o.closed || o.ceiling-o.next > o.sizes.allocated/2 {
		return
	}
	o.extending = true
	target := o.ceiling + o.sizes.allocated
	o.work.Go(func() {
		err := o.persist(context.Background(), target)
		o.mu.Lock()
		defer o.mu.Unlock()
		if err == nil {
			o.ceiling = target
		}
		o.failed, o.extending = err, false
		o.free.Broadcast()
	})
}

// close refuses further timestamps and waits for a running extension.
func (o *Oracle) close() {
	o.mu.Lock()
	o.closed = true
	o.free.Broadcast()
	o.mu.Unlock()
	o.work.Wait()
}
