package rank

import (
	"errors"
	"fmt"
	"testing"
)

func TestNames(t *testing.T) {
	n := NewNames()
	const many = 10_000
	for i := range many {
		got, err := n.Add(fmt.Sprint("name ", i))
		if err != nil || got != uint32(i) {
			t.Fatalf("name %d becomes %d, %v", i, got, err)
		}
	}
	for i := range many {
		if got, ok := n.Number(fmt.Sprint("name ", i)); !ok || got != uint32(i) {
			t.Fatalf("name %d is %d, %t", i, got, ok)
		}
	}
	if got, added, err := n.NumberOrAdd([]byte("name 7")); got != 7 || added || err != nil {
		t.Errorf("name 7 again is %d, added %t, %v", got, added, err)
	}
	if _, ok := n.Number("nobody"); ok {
		t.Error("a name that was not added is known")
	}
	if _, err := n.Add("name 7"); !errors.Is(err, ErrSameBits) {
		t.Errorf("a name that is there: %v", err)
	}
	if got, added, err := n.NumberOrAdd([]byte("one more")); got != many || !added || err != nil {
		t.Errorf("one more is %d, added %t, %v", got, added, err)
	}
	order := make([]uint32, many+1)
	for i := range order {
		order[i] = uint32((i + 3) % len(order))
	}
	n.Renumber(order)
	if got, ok := n.Number("name 7"); !ok || got != order[7] {
		t.Errorf("name 7 is %d in another order, %t; want %d", got, ok, order[7])
	}
	if got, added, err := n.NumberOrAdd([]byte("the last")); got != many+1 || !added || err != nil {
		t.Errorf("the last is %d, added %t, %v", got, added, err)
	}
	if n.Len() != many+2 {
		t.Errorf("%d names", n.Len())
	}
}
