package txn

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// readers are the open transactions, and everything else in this process that limits the
// safe point. A reader registers before it takes its timestamp. Since it does not know
// the timestamp yet, it registers with a bound that is certainly lower: the floor.
//
//  1. floor only grows, and is at most the greatest timestamp handed out.
//  2. A reader reads the floor, writes it into a slot, and then takes its timestamp,
//     which is greater than the floor (because of point 1, and because the oracle
//     never goes back). Then it writes the timestamp into the slot.
//  3. advance raises the floor to L, the greatest timestamp handed out, and then
//     reads the slots. A reader that it does not find there registers later, and
//     takes its timestamp after that, so it is above L.
//  4. So the least of L and of all bounds found is at or below every timestamp
//     that is being read now or will be read later.
//
// A slot is one word, taken and released by one atomic operation, and alone in its line
// of the processor's cache, because every transaction uses one. If a reader does not soon
// find a free slot, it registers in a list behind a mutex.
//
// Readers of the past (DB.At) already have a timestamp. They register under the
// mutex of the safe point, and are refused below it.
type readers struct {
	floor atomic.Uint64
	slots [readerSlots]readerSlot

	mu   sync.Mutex
	more map[*hold]struct{} // readers without a slot
}

const (
	readerSlots  = 256
	readerProbes = 8 // slots to try before using the list
)

// readerSlot holds the bound of a reader; 0 if it is free.
type readerSlot struct {
	bound atomic.Uint64
	_     [56]byte
}

// hold is one reader. While it is registered, no version that a read at bound or above
// needs is collected. It is embedded in its transaction.
type hold struct {
	bound *atomic.Uint64 // in its slot; nil while not registered
	of    *readers       // if it has no slot: bound is own, and it is in of.more
	asks  bool           // whether it must make sure that it is not too late (gcshared.go)
}

// enter registers a reader that is about to take its timestamp.
func (r *readers) enter(h *hold) { r.enterAt(h, r.floor.Load()) }

// enterAt registers a reader with a bound. If that is a timestamp of the past, the mutex of the
// safe point is held.
func (r *readers) enterAt(h *hold, ts uint64) {
	ts = max(ts, 1) // 0 is a free slot
	for i, first := uint32(0), rand.Uint32(); i < readerProbes; i++ {
		s := &r.slots[(first+i)%readerSlots].bound
		if s.Load() == 0 && s.CompareAndSwap(0, ts) {
			h.bound = s
			return
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more == nil {
		r.more = make(map[*hold]struct{})
	}
	h.bound, h.of = new(atomic.Uint64), r
	h.bound.Store(ts)
	r.more[h] = struct{}{}
}

// at sets the timestamp that the reader has taken.
func (h *hold) at(ts uint64) { h.bound.Store(ts) }

// leave ends a registration; a second call does nothing.
func (h *hold) leave() {
	if h.bound == nil {
		return
	}
	if r := h.of; r != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.more, h)
	} else {
		h.bound.Store(0)
	}
	h.bound, h.of = nil, nil
}

// oldest raises the floor to last and returns the least bound, at most last.
func (r *readers) oldest(last uint64) uint64 {
	if last > r.floor.Load() {
		r.floor.Store(last)
	}
	least := last
	r.each(func(bound uint64) { least = min(least, bound) })
	return least
}

// each calls fn for the bounds of all readers.
func (r *readers) each(fn func(bound uint64)) {
	for i := range r.slots {
		if bound := r.slots[i].bound.Load(); bound != 0 {
			fn(bound)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for h := range r.more {
		fn(h.bound.Load())
	}
}

// SafePointError says that versions of the requested time may have been collected. It
// matches ErrBelowSafePoint.
type SafePointError struct {
	TS, SafePoint uint64
}

// Error names both timestamps, and says what to do.
func (e *SafePointError) Error() string {
	return fmt.Sprintf("txn: timestamp %d is below the safe point %d: versions of that time may have been collected; read at %d or later, or keep a longer history", e.TS, e.SafePoint, e.SafePoint)
}

// Is makes it match ErrBelowSafePoint.
func (e *SafePointError) Is(target error) bool { return target == ErrBelowSafePoint }
