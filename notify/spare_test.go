package notify

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/txn"
)

// spareTime is a pipeline whose observer "fetch" is busy with one row all the time, and
// whose observer "index", downstream of it, has a debounce of 50 s.
type spareTime struct {
	*rig
	began   time.Time
	holding chan struct{} // a run of index waits for it; closed unless a test holds it up

	mu   sync.Mutex
	runs []string // of index: seconds since the beginning, and rows
}

func inSpareTime(t *testing.T, spare bool, workers int, test func(s *spareTime)) {
	synctest.Test(t, func(t *testing.T) {
		s := &spareTime{began: time.Now(), holding: make(chan struct{})}
		end := make(chan struct{})
		s.rig = newRig(t, openMem(t), Options{Workers: workers},
			Observer{Name: "fetch", Watches: col("f"), Weak: true, Run: func(context.Context, *txn.Txn, []string) error { <-end; return nil }},
			Observer{Name: "index", Watches: col("i"), Weak: true, Batch: 10, Debounce: 50 * time.Second, IdleAfter: time.Second,
				Upstream: []string{"fetch"}, Spare: spare, Run: s.index},
		)
		if err := s.p.Start(t.Context(), s.db); err != nil {
			t.Fatal(err)
		}
		s.notify("f", "busy", true)
		synctest.Wait()
		test(s)
		close(end)
		s.quiesce()
		s.close()
	})
}

func (s *spareTime) index(_ context.Context, _ *txn.Txn, rows []string) error {
	s.mu.Lock()
	s.runs = append(s.runs, fmt.Sprint(time.Since(s.began).Seconds(), rows))
	s.mu.Unlock()
	<-s.holding
	return nil
}

func (s *spareTime) notify(column, row string, urgent bool) {
	s.t.Helper()
	_, err := s.db.Run(s.t.Context(), func(tx *txn.Txn) error {
		tx.NotifyDeferrable(row, col(column))
		if urgent {
			tx.Notify(row, col(column))
			tx.NotifyDeferrable(row, col(column)) // changes nothing
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *spareTime) wants(runs ...string) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if fmt.Sprint(s.runs) != fmt.Sprint(runs) {
		s.t.Errorf("runs %v, want %v", s.runs, runs)
	}
}

// A free worker runs urgent rows at once, but not deferrable ones.
func TestSpareTime(t *testing.T) {
	inSpareTime(t, true, 2, func(s *spareTime) {
		close(s.holding)
		s.notify("i", "new", true)
		s.wants("0 [new]")
		s.notify("i", "hub", false)
		s.notify("i", "new", false)
		time.Sleep(5 * time.Second)
		s.wants("0 [new]")
		s.notify("i", "hub", true) // the deferrable row becomes urgent
		s.wants("0 [new]", "5 [hub]")
		s.notify("i", "hub", true)
		s.wants("0 [new]", "5 [hub]", "5 [hub]")
		time.Sleep(time.Minute)
		s.wants("0 [new]", "5 [hub]", "5 [hub]", "50 [new]")
	})
}

// While a loader is at work, no time is spare.
func TestSpareTimeBetweenLoads(t *testing.T) {
	inSpareTime(t, true, 2, func(s *spareTime) {
		close(s.holding)
		first, second := s.p.Loading(), s.p.Loading()
		s.notify("i", "new", true)
		first()
		s.wants()
		second()
		s.wants("0 [new]")
	})
}

// While a caller waits for the queue to empty, no time is spare: upstream finishes first.
func TestSpareTimeWhileWaiting(t *testing.T) {
	inSpareTime(t, true, 2, func(s *spareTime) {
		close(s.holding)
		end := s.p.queue.addWaiter()
		s.notify("i", "new", true)
		s.wants()
		end()
		s.wants("0 [new]")
	})
}

// Rows that come during a run are the next batch.
func TestSpareBatches(t *testing.T) {
	inSpareTime(t, true, 4, func(s *spareTime) {
		s.notify("i", "first", true)
		s.wants("0 [first]")
		for _, row := range []string{"a", "b", "c"} {
			s.notify("i", row, true)
		}
		s.wants("0 [first]")
		close(s.holding)
		s.wants("0 [first]", "0 [a b c]")
	})
}

// A row that is notified without end gets a few runs in spare time. Other rows get theirs.
func TestSpareRuns(t *testing.T) {
	inSpareTime(t, true, 2, func(s *spareTime) {
		close(s.holding)
		for range 40 {
			s.notify("i", "hub", true)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		s.notify("i", "other", true)
		runs := []string{"0 [hub]", "1 [hub]", "2 [hub]", "3 [hub]", "40 [other]"}
		s.wants(runs...)
		time.Sleep(20 * time.Second)
		runs = append(runs, "53 [hub]") // Debounce after its last run
		s.wants(runs...)
		s.notify("i", "hub", true) // a new Debounce has begun
		s.wants(append(runs, "60 [hub]")...)
	})
}

// A row without a recent run waits for FirstDebounce.
func TestFirstDebounce(t *testing.T) {
	nop := func(context.Context, *txn.Txn, []string) error { return nil }
	for _, c := range []struct{ first, want time.Duration }{{0, 10 * time.Second}, {25 * time.Second, 25 * time.Second}} {
		registry, err := NewRegistry(
			Observer{Name: "fetch", Watches: col("f"), Run: nop},
			Observer{Name: "index", Watches: col("i"), Run: nop, Debounce: 50 * time.Second, FirstDebounce: c.first, Upstream: []string{"fetch"}},
		)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(registry, 10)
			for i, name := range []string{"fetch", "index"} {
				q.add([]txn.Notification{{Cell: txn.Cell{Row: "row", Column: registry.list[i].Watches}, Observer: name, TS: 1}}, false)
			}
			if got := time.Until(q.delayed[1][0].until); got != c.want {
				t.Errorf("FirstDebounce %v: the first run comes after %v, want %v", c.first, got, c.want)
			}
		})
	}
}

// Without a free worker, or without Spare, rows wait for the end of their delay.
func TestNoSpareTime(t *testing.T) {
	inSpareTime(t, true, 1, func(s *spareTime) {
		close(s.holding)
		s.notify("i", "row", true)
		time.Sleep(5 * time.Second)
		s.wants()
	})
	inSpareTime(t, false, 2, func(s *spareTime) {
		close(s.holding)
		s.notify("i", "row", true)
		time.Sleep(5 * time.Second)
		s.wants()
		time.Sleep(10 * time.Second)
		s.wants("10 [row]")
	})
}
