package badgerdb

import "testing"

func TestViewsOldest(t *testing.T) {
	vs := newViews(10, groupSet{})
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
	vs := newViews(1, one)
	v := vs.acquire()
	vs.publish(2, groupSet{})
	if w := vs.acquire(); !v.empty.has(70) || v.empty.has(6) || w.empty.has(70) {
		t.Errorf("empty: %v then %v", v.empty, w.empty)
	}
}
