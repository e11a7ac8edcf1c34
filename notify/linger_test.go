package notify

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// inLingering is inQueue with an observer index that takes three rows at a time, and whose rows
// linger for 20 ms. It counts the workers that the queue wakes, as one that waits for work.
func inLingering(t *testing.T, test func(g *debounced, taken func() string)) {
	inQueue(t, 100, func(g *debounced) {
		g.mu.Lock()
		g.wanted, g.working = 1, []bool{true}
		g.mu.Unlock()
		batches, ended := make(chan string, 100), make(chan struct{})
		go func() {
			defer close(ended)
			for batch := g.next(0); batch != nil; batch = g.next(0) {
				rows := ""
				for _, e := range batch {
					rows += e.row
				}
				g.end(batch)
				batches <- rows
			}
		}()
		test(g, func() string {
			synctest.Wait()
			select {
			case rows := <-batches:
				return rows
			default:
				return ""
			}
		})
		g.close()
		<-ended
	}, Observer{Name: "index", Batch: 3, Linger: 20 * time.Millisecond})
}

// TestLinger: the steps are at a row, which is notified; "load" and "loaded", for the begin and
// the end of a loader's work; "wait", for a caller that waits for the queue to empty; a duration
// that passes; and "= rows", for the next batch that a worker has taken.
func TestLinger(t *testing.T) {
	tests := map[string][]string{
		"alone":                         {"a", "= a"},
		"while loading":                 {"load", "a", "=", "19ms", "=", "1ms", "= a", "loaded"},
		"full batch":                    {"load", "a", "b", "=", "c", "= abc", "loaded"},
		"the rest of a batch":           {"a", "= a", "load", "b", "10ms", "c", "9ms", "=", "1ms", "= bc", "d", "19ms", "=", "1ms", "= d", "loaded"},
		"the loader ends":               {"load", "a", "b", "=", "loaded", "= ab"},
		"another loader goes on":        {"load", "load", "a", "loaded", "=", "20ms", "= a", "loaded"},
		"a caller waits":                {"load", "a", "=", "wait", "= a", "b", "= b", "loaded"},
		"a loader comes too late":       {"a", "= a", "load", "loaded", "b", "= b"},
		"two batches, one after other":  {"load", "a", "20ms", "= a", "b", "=", "20ms", "= b", "loaded"},
		"the timer had nothing to wait": {"load", "a", "b", "c", "= abc", "50ms", "d", "=", "20ms", "= d", "loaded"},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			inLingering(t, func(g *debounced, taken func() string) {
				for i, step := range steps {
					at := fmt.Sprintf("step %d, %s", i+1, step)
					d, err := time.ParseDuration(step)
					switch {
					case err == nil:
						time.Sleep(d)
					case step == "load":
						g.addLoaders(1)
					case step == "loaded":
						g.addLoaders(-1)
					case step == "wait":
						defer g.addWaiter()()
					case step[0] == '=':
						want := ""
						if len(step) > 2 {
							want = step[2:]
						}
						if got := taken(); got != want {
							t.Fatalf("%s: a worker took %q", at, got)
						}
					default:
						g.notify("index", "i", step)
					}
				}
			})
		})
	}
}

// TestLingerAfterFailure: a row that has to run alone does not wait for others.
func TestLingerAfterFailure(t *testing.T) {
	inQueue(t, 100, func(g *debounced) {
		g.addLoaders(1)
		defer g.addLoaders(-1)
		g.notify("index", "i", "a")
		time.Sleep(20 * time.Millisecond)
		batch := g.begin()
		batch[0].most = 1
		g.requeue(batch, 0)
		if again := g.begin(); len(again) != 1 {
			t.Fatalf("took %d rows, want the one that failed", len(again))
		} else {
			g.end(again)
		}
	}, Observer{Name: "index", Batch: 3, Linger: 20 * time.Millisecond})
}

// TestLingerBehindOlderRows: a row lingers no longer when rows with older notifications, which are
// taken first, become ready after it.
func TestLingerBehindOlderRows(t *testing.T) {
	inLingering(t, func(g *debounced, taken func() string) {
		g.addLoaders(1)
		defer g.addLoaders(-1)
		g.ts = 100
		g.notify("index", "i", "b")
		time.Sleep(15 * time.Millisecond)
		g.ts = 50
		g.notify("index", "i", "a")
		time.Sleep(5 * time.Millisecond)
		if got := taken(); got != "ab" {
			t.Fatalf("after 20 ms a worker took %q, want both rows", got)
		}
	})
}
