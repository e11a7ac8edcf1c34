package observers

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// Figure 7 by hand: page n takes n ms, one after the other.
func TestTracker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := NewTracker()
		var watched []string
		tr.Watch(func(row string, loaded, searchable time.Time) {
			watched = append(watched, fmt.Sprint(row, " ", searchable.Sub(loaded)))
		})
		var half time.Time
		for n := 1; n <= 100; n++ {
			row := fmt.Sprint("row", n)
			tr.Loaded(row)
			tr.Loaded(row) // a conflict: the transaction is repeated
			if n == 51 {
				half = time.Now()
			}
			time.Sleep(time.Duration(n) * time.Millisecond)
			tr.searchable([]string{"unknown", row, row})
		}
		tr.Loaded("never")
		want := Latency{P50: 50 * time.Millisecond, P95: 95 * time.Millisecond, P99: 99 * time.Millisecond, N: 100}
		if l := tr.Latency(); l != want {
			t.Errorf("latency %+v, want %+v", l, want)
		}
		if l := tr.Since(half); l.N != 50 || l.P50 != 75*time.Millisecond {
			t.Errorf("since the half: %+v", l)
		}
		if l := tr.Since(time.Now()); l != (Latency{}) {
			t.Errorf("since now: %+v", l)
		}
		d := tr.All()
		if d.N() != 100 || d.Sum != 5050*time.Millisecond || tr.Waiting() != 1 {
			t.Errorf("all: %d, %v; waiting %d", d.N(), d.Sum, tr.Waiting())
		}
		time.Sleep(time.Second)
		quiet := time.Now()
		tr.Loaded("late")
		if tr.Settle(quiet); tr.Waiting() != 1 {
			t.Errorf("once nothing was left to do, %d wait; want the one that was loaded since", tr.Waiting())
		}
		if len(watched) != 100 || watched[6] != "row7 7ms" {
			t.Errorf("watched %d, the seventh %v", len(watched), watched[6:7])
		}
	})
}

// The ring holds the last samples, and counts all.
func TestTrackerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := NewTracker()
		for range 3 * trackedSamples / 2 {
			tr.Loaded("slow")
			time.Sleep(time.Second)
			tr.searchable([]string{"slow"})
		}
		for range trackedSamples {
			tr.Loaded("fast")
			time.Sleep(time.Millisecond)
			tr.searchable([]string{"fast"})
		}
		want := Latency{P50: time.Millisecond, P95: time.Millisecond, P99: time.Millisecond, N: 5 * trackedSamples / 2}
		if l := tr.Latency(); l != want {
			t.Errorf("latency %+v, want %+v", l, want)
		}
	})
}
