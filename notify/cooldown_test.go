package notify

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/txn"
)

// inCooldown is inDebounced with an observer index that is exclusive and cools down four times as
// long as it works, for a minute at most.
func inCooldown(t *testing.T, test func(g *debounced)) {
	inQueue(t, 1000, func(g *debounced) {
		defer g.addLoaderAtWork()()
		test(g)
	}, Observer{Name: "index", Batch: 2, Exclusive: true, Debounce: 10 * time.Second, IdleAfter: time.Second, Cooldown: 4, MaxCooldown: time.Minute})
}

// addLoaderAtWork keeps fetch from being idle.
func (g *debounced) addLoaderAtWork() (end func()) {
	g.addLoaders(1)
	return func() { g.addLoaders(-1) }
}

// burst notifies a new row, waits until it is ready, and has it run for the given time.
// It returns how long it has waited.
func (g *debounced) burst(row string, takes time.Duration) (waited time.Duration) {
	g.t.Helper()
	began := time.Now()
	g.notify("index", "i", row)
	batch := g.await(10 * time.Minute)
	waited = time.Since(began)
	time.Sleep(takes)
	g.end(batch)
	return waited
}

// await takes what becomes ready first, within some time.
func (g *debounced) await(within time.Duration) []*entry {
	g.t.Helper()
	const step = 100 * time.Millisecond
	for range within / step {
		synctest.Wait()
		if batch := g.begin(); batch != nil {
			return batch
		}
		time.Sleep(step)
	}
	g.t.Fatalf("nothing is ready within %v", within)
	return nil
}

// TestRestIsProportional: the next burst begins after a multiple of what the last one took,
// and after MaxCooldown at the latest. The debounce still holds for short bursts.
func TestRestIsProportional(t *testing.T) {
	for _, c := range []struct {
		takes       time.Duration
		least, most time.Duration
	}{
		{0, 2 * time.Second, 4 * time.Second}, // FirstDebounce is 2 s, in steps of 2 s
		{100 * time.Millisecond, 2 * time.Second, 4 * time.Second},
		{5 * time.Second, 20 * time.Second, 20*time.Second + 200*time.Millisecond},
		{10 * time.Second, 40 * time.Second, 40*time.Second + 200*time.Millisecond},
		{20 * time.Second, time.Minute, time.Minute + 200*time.Millisecond},
		{10 * time.Minute, time.Minute, time.Minute + 200*time.Millisecond},
	} {
		inCooldown(t, func(g *debounced) {
			g.burst("first", c.takes)
			if got := g.burst("second", 0); got < c.least || got > c.most {
				t.Errorf("after a burst of %v, the next one begins after %v, want %v to %v", c.takes, got, c.least, c.most)
			}
			if got := g.burst("third", 0); got > 4*time.Second {
				t.Errorf("after a burst of %v and a short one, the next one begins after %v", c.takes, got)
			}
		})
	}
}

// TestBurstEnds: rows that are due during a burst are not in it, although some of its rows
// still wait for their turn, and all batches of a burst count.
func TestBurstEnds(t *testing.T) {
	inCooldown(t, func(g *debounced) {
		for i := range 6 {
			g.notify("index", "i", fmt.Sprint("a", i))
		}
		for i, batch := 0, g.await(time.Minute); i < 3; i++ {
			if len(batch) != 2 || batch[0].row[0] != 'a' {
				t.Fatalf("batch %d: %d rows, the first %s", i, len(batch), batch[0].row)
			}
			g.notify("index", "i", fmt.Sprint("b", i))
			time.Sleep(4 * time.Second) // rows b0 and b1 become due
			g.end(batch)
			synctest.Wait()
			batch = g.begin()
			if i == 2 && batch != nil {
				t.Fatalf("the burst goes on with %s", batch[0].row)
			}
		}
		began := time.Now()
		batch := g.await(10 * time.Minute)
		if cooledAt := time.Since(began); cooledAt < 48*time.Second || cooledAt > 50*time.Second {
			t.Errorf("it cooling %v after three runs of 4 s", cooledAt)
		}
		g.end(batch)
		g.end(g.begin())
	})
}

// TestWaiterEndsCooldown: a caller that waits for the queue to empty does not wait for a
// cooldown, and neither does an idle upstream.
func TestWaiterEndsCooldown(t *testing.T) {
	inCooldown(t, func(g *debounced) {
		g.burst("first", 10*time.Second)
		g.notify("index", "i", "second")
		time.Sleep(5 * time.Second)
		g.wants(0, "at rest")
		end := g.addWaiter()
		g.wants(1, "while a caller waits")
		end()
		g.end(g.begin())
		g.notify("index", "i", "third")
		g.addLoaders(-1)
		time.Sleep(1100 * time.Millisecond)
		g.wants(1, "once upstream is idle")
		g.addLoaders(1)
		g.end(g.begin())
	})
}

// TestIdleRunsDoNotAddUp: however often an observer ran while its upstream was idle, the
// next cooldown is that of the last burst.
func TestIdleRunsDoNotAddUp(t *testing.T) {
	inCooldown(t, func(g *debounced) {
		g.addLoaders(-1)
		for range 100 {
			time.Sleep(2 * time.Second)
			g.burst("row", 100*time.Millisecond)
		}
		g.addLoaders(1)
		if got := g.burst("other", 0); got > 5*time.Second {
			t.Errorf("the next burst begins after %v", got)
		}
	})
}

// TestContinuedRunsAreOneBurst: the runs that continue a row count with its first one.
func TestContinuedRunsAreOneBurst(t *testing.T) {
	inCooldown(t, func(g *debounced) {
		g.notify("index", "i", "row")
		batch := g.await(time.Minute)
		for range 2 {
			g.ts++
			g.add([]txn.Notification{{Cell: txn.Cell{Row: "row", Column: col("i")}, Observer: "index", TS: g.ts, Continues: true}}, false)
			time.Sleep(3 * time.Second)
			batch[0].covered = 0
			g.finished(batch)
			batch = g.begin()
		}
		time.Sleep(3 * time.Second)
		g.end(batch)
		if got := g.burst("other", 0); got < 36*time.Second || got > 37*time.Second {
			t.Errorf("after three runs of 3 s, the next burst begins after %v", got)
		}
	})
}

// TestCooldownWhenIdle: with CooldownWhenIdle, an idle upstream does not end a cooldown, but a
// waiter does.
func TestCooldownWhenIdle(t *testing.T) {
	inCooldown(t, func(g *debounced) {
		g.registry.list[1].CooldownWhenIdle = true
		g.addLoaders(-1)
		defer g.addLoaders(1)
		time.Sleep(2 * time.Second) // upstream is idle
		if got := g.burst("first", 5*time.Second); got > time.Second {
			t.Errorf("the first burst begins after %v", got)
		}
		if got := g.burst("second", 0); got < 20*time.Second || got > 21*time.Second {
			t.Errorf("after a burst of 5 s, the next one begins after %v", got)
		}
		g.burst("third", 10*time.Second)
		g.notify("index", "i", "fourth")
		time.Sleep(15 * time.Second)
		g.wants(0, "at rest")
		end := g.addWaiter()
		g.wants(1, "while a caller waits")
		end()
		g.end(g.begin())
	})
}

// TestCooldownNeedsDebounce: a cooldown has no effect on an observer whose rows are
// never debounced.
func TestCooldownNeedsDebounce(t *testing.T) {
	nop := func(context.Context, *txn.Txn, []string) error { return nil }
	for _, o := range []Observer{{Cooldown: 1}, {Cooldown: 1, MaxCooldown: time.Second}, {Cooldown: 1, Debounce: time.Second}, {Cooldown: -1, Debounce: time.Second, MaxCooldown: time.Second}} {
		o.Name, o.Watches, o.Run = "o", col("o"), nop
		if _, err := NewRegistry(o); err == nil {
			t.Errorf("Cooldown %v, Debounce %v and MaxCooldown %v are accepted", o.Cooldown, o.Debounce, o.MaxCooldown)
		}
	}
}
