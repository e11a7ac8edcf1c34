package txn

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestReadersMoreThanSlots: every reader counts, in a slot or in the list, until it
// leaves; the least of their bounds is what they hold back.
func TestReadersMoreThanSlots(t *testing.T) {
	var r readers
	holds := make([]hold, 3*readerSlots)
	for i := range holds {
		r.enter(&holds[i])
		holds[i].at(uint64(1000 + i))
	}
	if len(r.more) == 0 || len(r.more) == len(holds) {
		t.Fatalf("%d of %d readers without a slot", len(r.more), len(holds))
	}
	for i := range holds {
		if n := r.count(); n != len(holds)-i {
			t.Fatalf("%d readers, want %d", n, len(holds)-i)
		}
		if got := r.oldest(5000); got != uint64(1000+i) {
			t.Fatalf("oldest %d, want %d", got, 1000+i)
		}
		holds[i].leave()
	}
	if got := r.oldest(5000); got != 5000 || r.count() != 0 || len(r.more) != 0 {
		t.Errorf("oldest %d with %d readers", got, r.count())
	}
}

// TestLeaveTwice: a reader that leaves again does not make room for what the next reader in its
// slot needs.
func TestLeaveTwice(t *testing.T) {
	var r readers
	var gone, next hold
	r.enterAt(&gone, 5)
	slot := gone.bound
	gone.leave()
	for r.enterAt(&next, 7); next.bound != slot; r.enterAt(&next, 7) {
		next.leave()
	}
	gone.leave()
	if least := r.oldest(9); least != 7 {
		t.Errorf("the least bound is %d, want 7", least)
	}
}

// TestReadersHoldBack: whatever the interleaving, a timestamp that is being read is
// not below what was found to be the oldest.
func TestReadersHoldBack(t *testing.T) {
	var (
		r           readers
		clock, safe atomic.Uint64
		wg          sync.WaitGroup
		stop        atomic.Bool
	)
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				var h hold
				r.enter(&h)
				ts := clock.Add(1)
				runtime.Gosched()
				h.at(ts)
				runtime.Gosched()
				if p := safe.Load(); p > ts {
					t.Errorf("reads at %d, the oldest is %d", ts, p)
					stop.Store(true)
				}
				h.leave()
			}
		})
	}
	for range 20_000 {
		safe.Store(max(safe.Load(), r.oldest(clock.Load())))
	}
	stop.Store(true)
	wg.Wait()
}

// count is the number of registered readers.
func (r *readers) count() (n int) {
	r.each(func(uint64) { n++ })
	return n
}
