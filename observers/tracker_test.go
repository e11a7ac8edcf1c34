package observers

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Latency returns the distribution over the last pages; N counts all since the start.
func (t *Tracker) Latency() Latency {
	l := t.Since(time.Time{})
	l.N = t.found()
	return l
}

// TestTracker computes Figure 7 by hand: page n takes n ms, one after the other.
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
			time.Sleep(time.Duration(n-1) * time.Millisecond)
			tr.Loaded(row) // it changes again before it is found
			time.Sleep(time.Millisecond)
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
		tr.Loaded("later")
		if tr.ForgetBefore(quiet); tr.Waiting() != 2 {
			t.Errorf("once nothing was left to do, %d wait; want the two that were loaded since", tr.Waiting())
		}
		if len(watched) != 100 || watched[6] != "row7 7ms" {
			t.Errorf("watched %d, the seventh %v", len(watched), watched[6:7])
		}
	})
}

// TestTrackerExpects: while a backlog grows, the pages found so far are the fast ones.
// Expected knows better from early on, as the end confirms.
func TestTrackerExpects(t *testing.T) {
	const pages, each = 1000, 100 * time.Millisecond // loaded at once, found one after the other
	synctest.Test(t, func(t *testing.T) {
		tr := NewTracker()
		for n := range pages {
			tr.Loaded(fmt.Sprint("row", n))
			time.Sleep(time.Millisecond)
		}
		if l := tr.Expected(); l.P50 != pages/2*time.Millisecond || l.N != 0 {
			t.Errorf("before the first was found: %+v, want the median age", l)
		}
		var early, halfway Latency
		for n := range pages {
			time.Sleep(each)
			tr.searchable([]string{fmt.Sprint("row", n)})
			switch n {
			case pages / 10:
				early = tr.Expected()
			case pages / 2:
				halfway = tr.Expected()
				if naive := tr.Latency(); naive.P50 > halfway.P50*6/10 {
					t.Errorf("the pages found so far have %v, expected are %v: this tests nothing", naive.P50, halfway.P50)
				}
			}
		}
		end := tr.Expected()
		if end != tr.Latency() {
			t.Errorf("nothing waits: expected %+v, and it is %+v", end, tr.Latency())
		}
		for name, l := range map[string]Latency{"early": early, "halfway": halfway} {
			for _, pair := range [][2]time.Duration{{l.P50, end.P50}, {l.P95, end.P95}, {l.P99, end.P99}} {
				if off := (pair[0] - pair[1]).Abs(); off > pair[1]/10 {
					t.Errorf("%s: expected %v, and it was %v", name, pair[0], pair[1])
				}
			}
		}
	})
}

// TestTrackerExpectsTheLast: of the waiting pages, only those count that will be among the
// last ones. A URL that is not a page does not count.
func TestTrackerExpectsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := NewTracker()
		tr.Loaded("redirect")
		for n := range 2 * trackedSamples {
			tr.Loaded(fmt.Sprint("row", n))
		}
		tr.dismiss("redirect")
		time.Sleep(time.Second)
		tr.searchable([]string{"row0"})
		// One in a second: the last 2,000 take 2,001 to 4,000 s, but for rounding.
		if l := tr.Expected(); l.P50 != (trackedSamples+trackedSamples/2)*time.Second || tr.Waiting() != 2*trackedSamples-1 {
			t.Errorf("%+v; %d wait", l, tr.Waiting())
		}
	})
}

// TestTrackerForgets: the ring holds the last samples; N counts all.
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
		tr.Loaded("last")
		time.Sleep(time.Hour)
		tr.searchable([]string{"last"})
		found := tr.Found(time.Time{})
		if len(found) != trackedSamples || found[0].Took != time.Millisecond || found[trackedSamples-1].Took != time.Hour {
			t.Errorf("%d samples, the last is %+v", len(found), found[len(found)-1])
		}
		if !slices.IsSortedFunc(found, func(a, b Found) int { return a.At.Compare(b.At) }) {
			t.Error("the samples are not in the order in which they were found")
		}
	})
}
