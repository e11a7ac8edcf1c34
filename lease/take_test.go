package lease

import (
	"context"
	"testing"
)

// TestTakeAgain: a process that holds a lease does not prepare for it again, and the runs that are
// under way keep their fences.
func TestTakeAgain(t *testing.T) {
	m, gained := newFleet(t).join(Options{}), 0
	want := Want{Name: "x", Gained: func(context.Context) error { gained++; return nil }}
	for range 2 {
		if held, err := m.Take(t.Context(), want); err != nil || !held {
			t.Fatal(held, err)
		}
		if _, err := m.Enter(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if free := len(m.held["x"].free); gained != 1 || free != fences-2 {
		t.Errorf("it prepared %d times, and %d fences are free; want once, and %d", gained, free, fences-2)
	}
}

// TestGiveBackOfAnother: a process does not free a lease that another one holds.
func TestGiveBackOfAnother(t *testing.T) {
	f := newFleet(t)
	holder, other := f.join(Options{}), f.join(Options{})
	if held, err := holder.Take(t.Context(), Want{Name: "x"}); err != nil || !held {
		t.Fatal(held, err)
	}
	if err := other.giveBack(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if list, err := List(t.Context(), f.table); err != nil || list["x"].Token != holder.process.Token() {
		t.Errorf("the holder is %v, %v; want %s", list["x"], err, holder.process.Token())
	}
}
