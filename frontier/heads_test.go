package frontier

import (
	"fmt"
	"testing"
	"time"
)

func TestHeads(t *testing.T) {
	var h heads
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	expect := func(at time.Duration, want string) {
		t.Helper()
		if got := h.get("a", now.Add(at)); got != want {
			t.Errorf("after %v: head %q, want %q", at, got, want)
		}
	}
	expect(0, "")
	h.found("a", "row5", now, headWorth-1) // not worth it
	expect(0, "")
	h.found("a", "row5", now, 100*time.Millisecond)
	expect(0, "row5")
	expect(2*time.Second-1, "row5")
	expect(2*time.Second, "")
	h.moved("a", "row3") // never back
	expect(0, "row5")
	h.moved("a", "row7") // for no longer than before
	expect(0, "row7")
	expect(2*time.Second, "")
	h.found("a", "row1", now, time.Hour) // for no longer than the longest
	expect(headLongest-1, "row1")
	expect(headLongest, "")
	h.found("a", "", now, time.Hour) // the queue is empty
	expect(0, "")
	for i := range 2 * maxHeads {
		h.found(fmt.Sprint(i), "row", now, time.Second)
		if len(h.of) > maxHeads {
			t.Fatalf("%d heads are kept", len(h.of))
		}
	}
}
