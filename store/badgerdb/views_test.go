package badgerdb

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// noReader is for views that are not read at.
func noReader(uint64, groupSet) reader { return reader{} }

func TestViewsOldest(t *testing.T) {
	vs := newViews(10, groupSet{}, noReader)
	a := vs.acquire() // 10
	if got := vs.publish(11, groupSet{}); got != 10 {
		t.Errorf("oldest %d with a reader at 10", got)
	}
	b, c := vs.acquire(), vs.acquire() // 11 twice
	if b != c || b.seq != 11 {
		t.Errorf("views at %d and %d", b.seq, c.seq)
	}
	vs.publish(12, groupSet{})
	vs.release(b)
	if got := vs.publish(13, groupSet{}); got != 10 {
		t.Errorf("oldest %d with a reader at 10", got)
	}
	vs.release(a)
	if got := vs.publish(14, groupSet{}); got != 11 {
		t.Errorf("oldest %d with a reader left at 11", got)
	}
	vs.release(c)
	if got := vs.publish(15, groupSet{}); got != 15 {
		t.Errorf("oldest %d without readers", got)
	}
	if v := vs.acquire(); v.seq != 15 {
		t.Errorf("current is %d", v.seq)
	}
}

// TestViewEmpty: a view keeps what was empty when it was current.
func TestViewEmpty(t *testing.T) {
	var one groupSet
	one.add(70)
	vs := newViews(1, one, noReader)
	v := vs.acquire()
	vs.publish(2, groupSet{})
	if w := vs.acquire(); !v.empty.has(70) || v.empty.has(6) || w.empty.has(70) {
		t.Errorf("empty: %v then %v", v.empty, w.empty)
	}
}

// TestViewsHeld: an acquired view is kept, whatever the interleaving with publish and
// release: the oldest view is never above a held one.
func TestViewsHeld(t *testing.T) {
	vs := newViews(0, groupSet{}, noReader)
	var (
		oldest atomic.Uint64 // that publish returned
		stop   atomic.Bool
		wg     sync.WaitGroup
	)
	for _, long := range []int{1, 1, 1, 1000} { // the last one makes the list long
		wg.Go(func() {
			for !stop.Load() {
				v := vs.acquire()
				for range long {
					runtime.Gosched()
				}
				if o := oldest.Load(); o > v.seq {
					t.Errorf("holds %d, oldest is %d", v.seq, o)
					stop.Store(true)
				}
				vs.release(v)
			}
		})
	}
	for seq := uint64(1); seq < 20_000 && !stop.Load(); seq++ {
		oldest.Store(vs.publish(seq, groupSet{}))
	}
	stop.Store(true)
	wg.Wait()
	if got := vs.publish(20_000, groupSet{}); got != 20_000 {
		t.Errorf("oldest %d without readers", got)
	}
}

// TestViewsBounded: views at which nothing reads are not kept behind one that stays open.
func TestViewsBounded(t *testing.T) {
	const last = 10_000
	vs := newViews(0, groupSet{}, noReader)
	held := []*view{vs.acquire()}
	for seq := uint64(1); seq <= last; seq++ {
		vs.publish(seq, groupSet{})
		if seq%1000 == 0 {
			held = append(held, vs.acquire())
		}
	}
	n := 0
	for v := vs.head; v != nil; v = v.next {
		n++
	}
	if n > leastViews+len(held) || n != vs.length {
		t.Errorf("%d views are kept, counted as %d, and %d are held", n, vs.length, len(held))
	}
	for _, v := range held {
		if got := vs.oldest(); got != v.seq {
			t.Errorf("oldest %d with a reader at %d", got, v.seq)
		}
		vs.release(v)
	}
	if got := vs.oldest(); got != last || vs.length != 1 {
		t.Errorf("oldest %d without readers, and %d views", got, vs.length)
	}
}

// TestViewsLate: a reader that comes to a view just when it is passed is sent to
// the next one, and leaves no trace.
func TestViewsLate(t *testing.T) {
	vs := newViews(1, groupSet{}, noReader)
	late := vs.current.Load()
	if got := vs.publish(2, groupSet{}); got != 2 {
		t.Fatalf("oldest %d without readers", got)
	}
	if vs.admit(late) {
		t.Error("a view that nothing holds back was given out")
	}
	if got := late.users.Load(); got != 0 {
		t.Errorf("%d readers left at the view", got)
	}
	if v := vs.acquire(); v.seq != 2 {
		t.Errorf("current is %d", v.seq)
	}
}
