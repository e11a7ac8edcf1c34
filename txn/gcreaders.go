package txn

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// readers are the transactions that are open, and whatever else holds back the
// safe point in this process. A reader registers before it takes its timestamp.
// It does not know the timestamp yet, so it registers with a bound that is
// certainly lower: the floor.
//
//  1. floor only grows, and is at most the greatest timestamp handed out.
//  2. A reader reads the floor and enters its shard under the shard's mutex, and
//     then takes its timestamp: greater than the floor it read (1; the oracle
//     never goes back).
//  3. advance raises the floor to L, the greatest timestamp handed out, and then
//     looks through the shards. A reader it does not find there enters later, so
//     it reads a floor of at least L, and its timestamp is above L (2).
//  4. So the least of L and of all bounds found is below, or at, every timestamp
//     that is read at now or will be read at later.
//
// Readers of the past (DB.At) bring a timestamp along. They register under the
// mutex of the safe point, and are refused below it.
type readers struct {
	floor  atomic.Uint64
	shards [readerShards]readerShard
}

// readerShards keeps transactions that begin at once out of each other's way.
const readerShards = 16

type readerShard struct {
	mu   sync.Mutex
	head *hold
	_    [48]byte // a cache line of its own
}

// hold is one reader: no version that is needed to read at bound, or above, is
// collected while it is registered. It lives in its transaction.
type hold struct {
	bound      atomic.Uint64
	shard      *readerShard // nil while not registered
	prev, next *hold
}

// enter registers a reader that is about to take its timestamp.
func (r *readers) enter(h *hold) {
	s := &r.shards[rand.Uint32N(readerShards)]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(h, r.floor.Load())
}

// enterAt registers a reader with a timestamp; the mutex of the safe point is held.
func (r *readers) enterAt(h *hold, ts uint64) {
	s := &r.shards[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(h, ts)
}

func (s *readerShard) add(h *hold, bound uint64) {
	h.bound.Store(bound)
	h.shard, h.prev, h.next = s, nil, s.head
	if s.head != nil {
		s.head.prev = h
	}
	s.head = h
}

// leave ends a registration; a second time does nothing.
func (h *hold) leave() {
	s := h.shard
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.prev != nil {
		h.prev.next = h.next
	} else {
		s.head = h.next
	}
	if h.next != nil {
		h.next.prev = h.prev
	}
	h.shard, h.prev, h.next = nil, nil, nil
}

// oldest raises the floor to last and returns the least bound, at most last.
func (r *readers) oldest(last uint64) uint64 {
	if last > r.floor.Load() {
		r.floor.Store(last)
	}
	least := last
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for h := s.head; h != nil; h = h.next {
			least = min(least, h.bound.Load())
		}
		s.mu.Unlock()
	}
	return least
}

// count is how many readers are registered.
func (r *readers) count() (n int) {
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for h := s.head; h != nil; h = h.next {
			n++
		}
		s.mu.Unlock()
	}
	return n
}

// SafePointError says that versions of a time that was asked for may be gone. It
// matches ErrBelowSafePoint.
type SafePointError struct {
	TS, SafePoint uint64
}

// Error names both timestamps, and what to do.
func (e *SafePointError) Error() string {
	return fmt.Sprintf("txn: timestamp %d is below the safe point %d: versions of that time may have been collected; read at %d or later, or keep a longer history", e.TS, e.SafePoint, e.SafePoint)
}

// Is makes it match ErrBelowSafePoint.
func (e *SafePointError) Is(target error) bool { return target == ErrBelowSafePoint }
