package notify

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/txn"
)

// debounced is a queue of fetch and, downstream of it, index, with a debounce of
// 10 s that 1 s of idleness ends. Only the test works.
type debounced struct {
	*queue
	t  *testing.T
	ts uint64
}

func inDebounced(t *testing.T, capacity int, test func(g *debounced)) {
	inQueue(t, capacity, test,
		Observer{Name: "index", Batch: 100, Debounce: 10 * time.Second, IdleAfter: time.Second},
		Observer{Name: "late", Watches: col("l"), Debounce: time.Minute, Upstream: []string{"index"}})
}

// inQueue runs a test in a bubble, with a queue of the observer fetch and of these, and with its
// timer. The first one is downstream of fetch, and watches i. The observers do nothing.
func inQueue(t *testing.T, capacity int, test func(g *debounced), list ...Observer) {
	synctest.Test(t, func(t *testing.T) {
		list[0].Watches, list[0].Upstream = col("i"), []string{"fetch"}
		list = append([]Observer{{Name: "fetch", Watches: col("f")}}, list...)
		for i := range list {
			list[i].Run = func(context.Context, *txn.Txn, []string) error { return nil }
		}
		registry, err := NewRegistry(list...)
		if err != nil {
			t.Fatal(err)
		}
		g := &debounced{queue: newQueue(registry, capacity), t: t}
		ended := make(chan struct{})
		go func() { defer close(ended); g.runTimer() }()
		defer func() {
			g.checkInvariants(t)
			g.close()
			<-ended
		}()
		test(g)
	})
}

func (g *debounced) notify(observer, column, row string) {
	g.ts++
	g.add([]txn.Notification{{Cell: txn.Cell{Row: row, Column: col(column)}, Observer: observer, TS: g.ts}}, false)
}

// begin takes what is ready; end gives it back as done.
func (g *debounced) begin() []*entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.take()
}

func (g *debounced) end(batch []*entry) {
	for _, e := range batch {
		e.covered = g.ts
	}
	g.finished(batch)
}

// page goes through fetch and notifies index about a row.
func (g *debounced) page(row string) {
	g.notify("fetch", "f", row)
	batch := g.begin()
	g.notify("index", "i", row)
	g.end(batch)
	synctest.Wait()
}

func (g *debounced) wants(rows int, when string) {
	g.t.Helper()
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := len(g.ready[1]); n != rows {
		g.t.Errorf("%s: %d rows ready, want %d", when, n, rows)
	}
}

// TestInactiveIsNotIdle: between pages that come fast, fetch is inactive without
// being idle. A pause releases what was debounced, and so does time.
func TestInactiveIsNotIdle(t *testing.T) {
	inDebounced(t, 100, func(g *debounced) {
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
		g.wants(1, "a fifth of the debounce after the first of them")
	})
}

// TestIdleBeforeBackoff: an idle upstream releases a debounced row, although a row of the same observer
// backs off for longer.
func TestIdleBeforeBackoff(t *testing.T) {
	inDebounced(t, 100, func(g *debounced) {
		g.notify("index", "i", "fails")
		time.Sleep(time.Second)
		g.wants(1, "idle")
		g.requeue(g.begin(), 1900*time.Millisecond)
		g.notify("fetch", "f", "x")
		g.end(g.begin())
		synctest.Wait()
		g.notify("index", "i", "x")
		time.Sleep(time.Second)
		g.wants(1, "a second after fetch")
	})
}

// TestShortPauseReleasesLittle: a pause releases a batch at first, and later as many as there are
// workers. What has not become ready when the next page comes stays debounced.
func TestShortPauseReleasesLittle(t *testing.T) {
	index := Observer{Name: "index", Batch: 100, Debounce: time.Minute, IdleAfter: time.Second}
	inQueue(t, 1000, func(g *debounced) {
		g.wanted = 2
		for i := range 600 {
			g.page(strconv.Itoa(i))
		}
		time.Sleep(time.Second)
		g.wants(100, "after a second")
		first := g.begin()
		time.Sleep(500 * time.Millisecond)
		g.end(first)
		g.wants(100, "after 1.5 s, when these have run")
		g.notify("index", "i", "0")
		g.wants(101, "a row that is notified now does not wait")
		second := g.begin()
		time.Sleep(time.Second)
		g.end(second)
		g.wants(200, "after 2.5 s, with two workers")
		third, fourth := g.begin(), g.begin()
		g.page("next")
		g.end(third)
		g.end(fourth)
		g.wants(0, "after the next page")
		end := g.addWaiter()
		defer end()
		g.wants(202, "the rest, when somebody waits for the end")
	}, index)
}

// TestLoaderAtWorkIsNotIdle: idle time counts from the end of the last load.
func TestLoaderAtWorkIsNotIdle(t *testing.T) {
	inDebounced(t, 100, func(g *debounced) {
		g.addLoaders(1)
		g.page("a")
		time.Sleep(700 * time.Millisecond)
		g.addLoaders(-1)
		time.Sleep(900 * time.Millisecond)
		g.wants(0, "1.6 s after the page, but less than a second after the load")
		time.Sleep(100 * time.Millisecond)
		g.wants(1, "a second after the load")
	})
}

// TestIdleUpstreamDelaysNothing: once fetch has been inactive for long enough, a
// notification is not delayed at all.
func TestIdleUpstreamDelaysNothing(t *testing.T) {
	inDebounced(t, 100, func(g *debounced) {
		g.page("x")
		time.Sleep(3 * time.Second)
		g.end(g.begin())
		g.notify("index", "i", "y")
		g.wants(1, "idle")
	})
}

// TestWaiterEndsDebounce: a caller that waits for the end does not wait for IdleAfter,
// but what fetch has to do comes first.
func TestWaiterEndsDebounce(t *testing.T) {
	inDebounced(t, 100, func(g *debounced) {
		g.page("x")
		g.wants(0, "before")
		g.notify("fetch", "f", "z")
		end := g.addWaiter()
		g.wants(0, "while fetch has work")
		g.end(g.begin())
		g.wants(1, "idle")
		g.end(g.begin())
		end()
		g.page("y")
		g.wants(0, "later")
	})
}

// TestReleasedComeLast: what was debounced does not come before what fetch had to
// do when it was last notified.
func TestReleasedComeLast(t *testing.T) {
	inDebounced(t, 100, func(g *debounced) {
		g.page("x")
		g.notify("fetch", "f", "late")
		g.notify("index", "i", "x")
		time.Sleep(3 * time.Second)
		g.wants(1, "after a fifth of the debounce")
		if b := g.begin(); b[0].row != "late" {
			t.Errorf("%s comes first", b[0].row)
		} else {
			g.end(b)
		}
	})
}

// TestDebouncedUpstreamIsNotActive: late has no IdleAfter, and is released as soon as
// all of index's rows are debounced; but when a caller waits for the end, only once
// index is done.
func TestDebouncedUpstreamIsNotActive(t *testing.T) {
	inDebounced(t, 100, func(g *debounced) {
		g.page("x")
		g.notify("late", "l", "x")
		if n := len(g.ready[2]); n != 1 {
			t.Errorf("while index is debounced: %d rows ready, want 1", n)
		}
		g.end(g.begin())
		g.page("y")
		end := g.addWaiter()
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

// TestBacklogLeavesOutDebounced: up to half of the queue.
func TestBacklogLeavesOutDebounced(t *testing.T) {
	inDebounced(t, 10, func(g *debounced) {
		for i, want := range []int{0, 0, 0, 0, 0, 1, 2} {
			g.page(string(rune('a' + i)))
			if n := g.backlog(); n != want {
				t.Errorf("%d pages are debounced: backlog %d, want %d", i+1, n, want)
			}
		}
	})
}
