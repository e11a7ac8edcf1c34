package notify

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/txn"
)

// inDeferrable is inDebounced with an observer index whose deferrable rows wait for 100 pages,
// or five minutes, and a loader at work.
func inDeferrable(t *testing.T, test func(g *debounced)) {
	inQueue(t, 1000, func(g *debounced) {
		defer g.addLoaderAtWork()()
		test(g)
	}, Observer{Name: "index", Batch: 100, Debounce: 10 * time.Second, IdleAfter: time.Second, Spare: true, DeferRows: 100, MaxDefer: 5 * time.Minute})
}

func (g *debounced) notifyDeferrable(row string) {
	g.ts++
	g.add([]txn.Notification{{Cell: txn.Cell{Row: row, Column: col("i")}, Observer: "index", TS: g.ts, Deferrable: true}}, false)
}

// loadUntilReady loads a page after each pause, until index has something to do, and takes it.
func (g *debounced) loadUntilReady(pause time.Duration) (batch []*entry, waited time.Duration) {
	g.t.Helper()
	began := time.Now()
	for i := range 100_000 {
		time.Sleep(pause)
		g.notify("fetch", "f", fmt.Sprint("page", i))
		g.end(g.begin())
		synctest.Wait()
		if batch := g.begin(); batch != nil {
			return batch, time.Since(began)
		}
	}
	g.t.Fatal("index has nothing to do")
	return nil, 0
}

// TestDeferrableRowsCountPages: a deferrable row waits for pages on a slow machine, and for
// time on a fast one. An urgent one waits for time.
func TestDeferrableRowsCountPages(t *testing.T) {
	for _, c := range []struct {
		pause       time.Duration // between pages
		deferrable  bool
		least, most time.Duration
	}{
		{time.Millisecond, true, 2 * time.Second, 6 * time.Second}, // FirstDebounce is 2 s
		{500 * time.Millisecond, true, 50 * time.Second, 52 * time.Second},
		{time.Second, true, 100 * time.Second, 103 * time.Second},
		{20 * time.Second, true, 5 * time.Minute, 5*time.Minute + 20*time.Second},
		{500 * time.Millisecond, false, 2 * time.Second, 3 * time.Second},
	} {
		inDeferrable(t, func(g *debounced) {
			for round := range 2 { // the second time, the row has run before
				if c.deferrable {
					g.notifyDeferrable("x")
				} else {
					g.notify("index", "i", "x")
				}
				batch, waited := g.loadUntilReady(c.pause)
				most := c.most
				if round > 0 {
					most = max(most, 10*time.Second+c.pause) // Debounce
				}
				if waited < c.least || waited > most {
					t.Errorf("pages every %v, deferrable %v, round %d: waited %v, want %v to %v", c.pause, c.deferrable, round, waited, c.least, most)
				}
				g.end(batch)
			}
		})
	}
}

// TestDeferralGrows: in a large load a deferrable row waits for a quarter of the pages before
// it.
func TestDeferralGrows(t *testing.T) {
	inDeferrable(t, func(g *debounced) {
		for i := range 1000 {
			g.notify("fetch", "f", fmt.Sprint("before", i))
			g.end(g.begin())
		}
		g.notifyDeferrable("x")
		batch, waited := g.loadUntilReady(500 * time.Millisecond)
		if waited < 125*time.Second || waited > 127*time.Second {
			t.Errorf("waited %v for 250 pages, one every half second", waited)
		}
		g.end(batch)
	})
}

// TestDeferralEnds: with an urgent notification, with a caller that waits for the queue
// to empty, and when upstream is idle.
func TestDeferralEnds(t *testing.T) {
	inDeferrable(t, func(g *debounced) {
		g.notifyDeferrable("x")
		time.Sleep(30 * time.Second)
		g.wants(0, "deferrable")
		g.notify("index", "i", "x")
		time.Sleep(5 * time.Second)
		g.wants(1, "urgent")
		g.end(g.begin())

		g.notifyDeferrable("y")
		time.Sleep(30 * time.Second)
		g.wants(0, "deferrable")
		end := g.addWaiter()
		g.wants(1, "while a caller waits")
		end()
		g.end(g.begin())

		g.notifyDeferrable("z")
		time.Sleep(30 * time.Second)
		g.addLoaders(-1)
		time.Sleep(1100 * time.Millisecond)
		g.wants(1, "idle")
		g.addLoaders(1)
		g.end(g.begin())
	})
}

// TestUrgentWhileRunning: a row that is notified during its run waits for its next run as the more
// urgent of these notifications does, and is debounced again.
func TestUrgentWhileRunning(t *testing.T) {
	for _, urgentFirst := range []bool{true, false} {
		for name, end := range map[string]func(*debounced, []*entry){
			"committed":  func(g *debounced, batch []*entry) { g.finished(batch) }, // begun before the notifications
			"conflicted": func(g *debounced, batch []*entry) { g.requeue(batch, time.Second) },
		} {
			inDeferrable(t, func(g *debounced) {
				g.notifyDeferrable("x")
				batch := g.await(10 * time.Minute)
				if urgentFirst {
					g.notify("index", "i", "x")
				}
				g.notifyDeferrable("x")
				if !urgentFirst {
					g.notify("index", "i", "x")
				}
				end(g, batch)
				if e := batch[0]; !e.urgent || e.place != delayed {
					t.Errorf("%s: urgent %v, at %v", name, e.urgent, e.place)
				}
				g.end(g.await(time.Minute))
			})
		}
	}
}
