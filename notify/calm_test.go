package notify

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"indexer/txn"
)

// gathered is a queue of fetch and, after it, index, which gathers for 10 s and
// lingers for 1 s. Nobody works but the test.
type gathered struct {
	*queue
	t  *testing.T
	ts uint64
}

func inGathered(t *testing.T, capacity int, test func(g *gathered)) {
	synctest.Test(t, func(t *testing.T) {
		nop := func(context.Context, *txn.Txn, []string) error { return nil }
		registry, err := NewRegistry(
			Observer{Name: "fetch", Watches: col("f"), Run: nop},
			Observer{Name: "index", Watches: col("i"), Run: nop, Batch: 100, Hold: 10 * time.Second, Linger: time.Second},
			Observer{Name: "late", Watches: col("l"), Run: nop, Hold: time.Minute},
		)
		if err != nil {
			t.Fatal(err)
		}
		g := &gathered{queue: newQueue(registry, capacity), t: t}
		ended := make(chan struct{})
		go func() { defer close(ended); g.keepTime() }()
		test(g)
		g.mustHold(t)
		g.close()
		<-ended
	})
}

func (g *gathered) notify(observer, column, row string) {
	g.ts++
	g.add([]txn.Notification{{Cell: txn.Cell{Row: row, Column: col(column)}, Observer: observer, TS: g.ts}}, false)
}

// begin takes what is ready; end gives it back as done.
func (g *gathered) begin() []*entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.take()
}

func (g *gathered) end(batch []*entry) {
	for _, e := range batch {
		e.covered = g.ts
	}
	g.finished(batch)
}

// page goes through fetch and notifies index of a row.
func (g *gathered) page(row string) {
	g.notify("fetch", "f", row)
	batch := g.begin()
	g.notify("index", "i", row)
	g.end(batch)
	synctest.Wait()
}

func (g *gathered) wants(rows int, when string) {
	g.t.Helper()
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.ready[1]); n != rows {
		g.t.Errorf("%s: %d rows ready, want %d", when, n, rows)
	}
}

// TestIdleMomentsDoNotFree: between pages that come fast, fetch is idle without
// being calm. A pause frees what has gathered, and so does the time.
func TestIdleMomentsDoNotFree(t *testing.T) {
	inGathered(t, 100, func(g *gathered) {
		for range 3 {
			g.page("x")
			time.Sleep(600 * time.Millisecond)
			g.wants(0, "between pages")
		}
		time.Sleep(500 * time.Millisecond) // 1.1 s since the last page
		g.wants(1, "after the pause")
		g.end(g.begin())
		for range 10 {
			g.page("y")
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		g.wants(1, "a fifth of the hold after the first of them")
	})
}

// TestCalmIsSeenAtOnce: once fetch has been idle for long enough, a notification is
// not held at all.
func TestCalmIsSeenAtOnce(t *testing.T) {
	inGathered(t, 100, func(g *gathered) {
		g.page("x")
		time.Sleep(3 * time.Second)
		g.end(g.begin())
		g.notify("index", "i", "y")
		g.wants(1, "in calm")
	})
}

// TestWaitingHurries: who waits for the end does not wait for calm, but what fetch
// has to do comes before.
func TestWaitingHurries(t *testing.T) {
	inGathered(t, 100, func(g *gathered) {
		g.page("x")
		g.wants(0, "before")
		g.notify("fetch", "f", "z")
		end := g.hurry()
		g.wants(0, "while fetch has work")
		g.end(g.begin())
		g.wants(1, "idle")
		g.end(g.begin())
		end()
		g.page("y")
		g.wants(0, "later")
	})
}

// TestFreedComeLast: what has gathered does not come before what fetch had to do
// when it was last notified.
func TestFreedComeLast(t *testing.T) {
	inGathered(t, 100, func(g *gathered) {
		g.page("x")
		g.notify("fetch", "f", "late")
		g.notify("index", "i", "x")
		time.Sleep(3 * time.Second)
		g.wants(1, "after a fifth of the hold")
		if b := g.begin(); b[0].row != "late" {
			t.Errorf("%s comes first", b[0].row)
		} else {
			g.end(b)
		}
	})
}

// TestGatheringHoldsNobodyUp: late has no linger, and is free as soon as index only
// gathers; but not before index is done when somebody waits for the end.
func TestGatheringHoldsNobodyUp(t *testing.T) {
	inGathered(t, 100, func(g *gathered) {
		g.page("x")
		g.notify("late", "l", "x")
		if n := len(g.ready[2]); n != 1 {
			t.Errorf("while index gathers: %d rows ready, want 1", n)
		}
		g.end(g.begin())
		g.page("y")
		end := g.hurry()
		defer end()
		g.notify("late", "l", "y")
		if n := len(g.ready[2]); n != 0 {
			t.Errorf("while index has a row ready and somebody waits: %d rows ready, want 0", n)
		}
		g.end(g.begin())
		g.mu.Lock()
		defer g.mu.Unlock()
		if n := len(g.ready[2]); n != 1 {
			t.Errorf("at the end: %d rows ready, want 1", n)
		}
	})
}

// TestBacklogLeavesOutWhatGathers, up to half of the queue.
func TestBacklogLeavesOutWhatGathers(t *testing.T) {
	inGathered(t, 10, func(g *gathered) {
		for i, want := range []int{0, 0, 0, 0, 0, 1, 2} {
			g.page(string(rune('a' + i)))
			if n := g.backlog(); n != want {
				t.Errorf("%d pages gather: backlog %d, want %d", i+1, n, want)
			}
		}
	})
}
