package txn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/store"
)

// oracle hands out timestamps in strictly increasing order, even across restarts: it persists
// a ceiling before it hands out any timestamp below it, and starts at the persisted ceiling
// (paper, section 2.3).
//
// # The commit window
//
// The two-phase protocol is safe because a writer has its locks in the table
// before it asks for its commit timestamp: a reader with a later start
// timestamp finds the lock or the write. The one-phase path has no locks.
// Between taking the commit timestamp C of a batch and the batch becoming
// visible, a reader could get a start timestamp above C, look, and find nothing.
//
// So a group of commits takes timestamps ahead of the counter. While the
// group is being written, start timestamps come from a window below the group's
// first commit timestamp F. When the group is visible, the counter jumps over the
// group's timestamps:
//
//	next            F            F+n
//	 |--- window ---|--- group ---|
//	 starts handed    commit        where next continues
//	 out meanwhile    timestamps    once the group is visible
//
// Proof that a reader with start S sees every commit C < S: C belongs to a
// group with first timestamp F <= C. S was handed out before that group was
// visible only if S < F <= C. So S > C means S was handed out after the group
// became visible, and the reader's snapshot of the store is taken after that.
// And a transaction sees every transaction that was acknowledged before it began:
// the acknowledgement comes after Visible, which moves next above C.
//
// Commit timestamps of the two-phase path come from Next; they may lie in the
// window, and the paper's argument (locks first) holds for them. On one cell
// commits still follow the order of their timestamps: both paths check, in the
// store's one atomic step, that the cell has neither a lock nor a newer write.
//
// If the window is used up (usualSizes: 1,024 timestamps during one flush), Next
// waits for the flush. Rejected: an in-memory lock table that readers consult,
// because every read would pay for it; and a snapshot timestamp that lags
// behind the start timestamp, because every later rule would have to choose between
// two timestamps of one transaction.
//
// # The fast path
//
// Next is one atomic add unless a group is being written. The timestamps that may be
// handed out are in a span, which is never changed, only replaced: by Reserve (limit F),
// by Visible, and when the ceiling rises (limit: the ceiling). Next reads the span, takes
// a number, and checks that the span is still the same. The number counts only if it is,
// and if it is below the span's limit. Otherwise it is discarded for good: numbers are
// never returned. That preserves the two claims of the proof:
//
//  1. During a flush no start timestamp of F or above is handed out. A number taken under
//     the span of the flush is below its limit F. A number taken under an earlier span
//     was taken before the flush's span was put in place; Reserve reads the counter after
//     it has put that span in place, so it would have seen the number and chosen a higher
//     F.
//  2. No timestamp is handed out twice. The counter only rises, so no number is taken
//     twice. A number from F to F+n-1 would be a commit timestamp. It could only be taken
//     under the flush's span, whose limit is F, because Visible moves the counter to F+n
//     before it puts the next span in place.
//
// A span cannot be mistaken for an earlier one at the same address: the goroutine that
// compares them still holds the earlier one, so its memory is not reused.
type oracle struct {
	persist func(ctx context.Context, ceiling uint64) error

	span atomic.Pointer[span]
	_    [64]byte      // next is written all the time, its neighbours are read
	next atomic.Uint64 // the next timestamp to hand out
	_    [64]byte

	mu      sync.Mutex // held to replace the span
	sizes   oracleSizes
	began   uint64     // the ceiling that was persisted before this oracle; never changed
	free    *sync.Cond // signalled when the window closes or the ceiling rises
	ceiling uint64     // persisted; everything handed out is below
	first   uint64     // F of the group being written; 0 if there is none
	after   uint64     // where next continues when the group is visible

	extending bool
	failed    error // of the last attempt to raise the ceiling
	closed    bool
	work      sync.WaitGroup
}

// span holds the timestamps that Next may hand out without taking the mutex.
type span struct {
	limit uint64 // only timestamps below
	low   uint64 // from here on Next asks for the next range
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

// firstTimestamp is the first of a new table. No timestamp is 0, which means "no bound" to the
// store, or 1.
const firstTimestamp = 16

// openOracle reads the persisted ceiling and allocates a first range above it.
// It calls step before and after each later write of a ceiling. A crash during the
// first write leaves the same state as a crash before it.
func openOracle(ctx context.Context, table store.Table, sizes oracleSizes, step func(string, Cell) error) (*oracle, error) {
	ceiling, err := readNumber(ctx, table, oracleRow, oracleColumn, "the timestamp oracle's ceiling")
	if err != nil {
		return nil, err
	}
	if ceiling == 0 { // a new table
		ceiling = firstTimestamp
	}
	write := func(ctx context.Context, c uint64) error {
		return applyRow(ctx, table, oracleRow, putNumber(oracleColumn, c, c))
	}
	o, err := newOracle(ctx, ceiling, sizes, write)
	if err != nil {
		return nil, err
	}
	o.persist = func(ctx context.Context, c uint64) error {
		if err := step(stepOracleRange, Cell{}); err != nil {
			return err
		}
		if err := write(ctx, c); err != nil {
			return err
		}
		return step(stepOracleRangeWritten, Cell{})
	}
	return o, nil
}

// newOracle starts at a persisted ceiling; persist writes a new one durably.
func newOracle(ctx context.Context, ceiling uint64, sizes oracleSizes, persist func(context.Context, uint64) error) (*oracle, error) {
	o := &oracle{persist: persist, sizes: sizes, began: ceiling, ceiling: ceiling + sizes.allocated}
	o.free = sync.NewCond(&o.mu)
	o.next.Store(ceiling)
	if err := persist(ctx, o.ceiling); err != nil {
		return nil, fmt.Errorf("txn: persist the timestamp oracle's ceiling: %w", err)
	}
	o.replaceSpan()
	return o, nil
}

// Next returns a timestamp greater than every one it returned before, in this
// process or an earlier one.
func (o *oracle) Next(ctx context.Context) (uint64, error) {
	if ts, ok := o.take(o.span.Load()); ok {
		return ts, nil
	}
	return o.nextLocked(ctx)
}

// take takes a timestamp under a span, if that is still in place afterwards.
func (o *oracle) take(s *span) (ts uint64, ok bool) {
	if o.next.Load() >= s.limit { // a caller that has to wait must not discard a number
		return 0, false
	}
	ts = o.next.Add(1) - 1
	if ts >= s.limit || o.span.Load() != s {
		return 0, false
	}
	if ts >= s.low {
		o.extend()
	}
	return ts, true
}

// nextLocked is Next under the mutex: no span can be replaced, except while it waits.
func (o *oracle) nextLocked(ctx context.Context) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for waited := false; ; waited = true {
		if o.closed {
			return 0, ErrClosed
		}
		if waited && o.next.Load() >= o.ceiling && !o.extending && o.failed != nil {
			return 0, fmt.Errorf("txn: out of timestamps: %w", o.failed)
		}
		o.extendIfLow()
		if limit := o.span.Load().limit; o.next.Load() < limit {
			if ts := o.next.Add(1) - 1; ts < limit {
				return ts, nil
			}
		}
		if err := o.wait(ctx); err != nil {
			return 0, err
		}
	}
}

// replaceSpan replaces the span by one made from the other fields. mu must be held.
func (o *oracle) replaceSpan() {
	s := &span{limit: o.ceiling, low: o.ceiling - o.sizes.allocated/2}
	if o.first != 0 {
		s.limit = min(s.limit, o.first)
	}
	if o.extending {
		s.low = math.MaxUint64
	}
	if o.closed {
		s.limit = 0
	}
	o.span.Store(s)
}

// wait waits for free, or for ctx to end. mu must be held.
func (o *oracle) wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.free.Broadcast()
	})
	defer stop()
	o.free.Wait()
	return context.Cause(ctx)
}

// Last is the greatest timestamp so far that is a start timestamp or the commit timestamp
// of a visible transaction. Every Next and every Visible raises it. Reserved
// timestamps count only once they are visible: otherwise Last could return the same value
// before and after the end of a flush, although a transaction committed in between.
func (o *oracle) Last() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := min(o.next.Load(), o.ceiling) // numbers above were discarded
	if o.first != 0 {
		last = min(last, o.first)
	}
	return last - 1
}

var errOracleRange = errors.New("txn: timestamp range used up; the next one is being allocated")

// Reserve implements store.Clock: n commit timestamps from beyond the window.
func (o *oracle) Reserve(n int) (uint64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.extendIfLow()
	for {
		first := o.next.Load() + o.sizes.window
		if first+uint64(n) > o.ceiling {
			// This runs in the store's committer, which also has to write the new
			// ceiling: waiting here would be a deadlock.
			o.first, o.after = 0, 0
			o.replaceSpan()
			return 0, errors.Join(errOracleRange, o.failed)
		}
		o.first, o.after = first, first+uint64(n)
		o.replaceSpan()
		if o.next.Load() <= first { // see claim 1: no number this high was taken under the earlier span
			return first, nil
		}
	}
}

// Visible implements store.Clock: the reserved commits can be read now.
func (o *oracle) Visible() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n := o.next.Load(); n < o.after && !o.next.CompareAndSwap(n, o.after); n = o.next.Load() {
	}
	o.first, o.after = 0, 0
	o.replaceSpan() // after the counter: see claim 2
	o.free.Broadcast()
}

// Ceiling is the persisted ceiling, at which the next oracle of this table starts.
func (o *oracle) Ceiling() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ceiling
}

// extend is extendIfLow for Next, which does not hold mu.
func (o *oracle) extend() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.extendIfLow()
}

// extendIfLow starts raising the ceiling when half of the range is used. mu must be
// held.
func (o *oracle) extendIfLow() {
	if o.extending || o.closed || o.next.Load()+o.sizes.allocated/2 < o.ceiling {
		return
	}
	o.extending = true
	o.replaceSpan()
	target := max(o.ceiling, o.next.Load()) + o.sizes.allocated
	o.work.Go(func() {
		err := o.persist(context.Background(), target)
		o.mu.Lock()
		defer o.mu.Unlock()
		if err == nil {
			o.ceiling = target
		}
		o.failed, o.extending = err, false
		o.replaceSpan()
		o.free.Broadcast()
	})
}

// close refuses further timestamps and waits for a running extension.
func (o *oracle) close() {
	o.mu.Lock()
	o.closed = true
	o.replaceSpan()
	o.free.Broadcast()
	o.mu.Unlock()
	o.work.Wait()
}
