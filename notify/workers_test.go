package notify

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/txn"
)

// The number of workers follows SetWorkers, whatever they are doing: never more
// runs at a time than workers wanted, once the surplus workers have ended
// theirs.
func TestSetWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		goOn := make(chan struct{})
		r := newRig(t, openMem(t), Options{Workers: 1}, watch(func(context.Context, *txn.Txn, []string) error {
			running.Add(1)
			<-goOn
			running.Add(-1)
			return nil
		}))
		r.p.SetWorkers(7) // not started: nothing happens
		r.start()
		for i := range 100 {
			r.set(fmt.Sprint(i), "x", "v")
		}
		endOne := func() { goOn <- struct{}{}; synctest.Wait() }
		for _, step := range []struct {
			workers, ends, want int32
		}{
			{1, 0, 1}, {4, 0, 4}, {4, 6, 4},
			{2, 0, 4}, {2, 4, 2}, {2, 5, 2}, // two end when they come back
			{0, 0, 2}, {3, 0, 3}, // the two were not through yet: they stay
			{0, 3, 0}, {-1, 0, 0}, // a pause
			{5, 0, 5}, {5, 50, 5},
		} {
			r.p.SetWorkers(int(step.workers))
			synctest.Wait()
			for range step.ends {
				endOne()
			}
			if n := running.Load(); n != step.want {
				t.Errorf("%+v: %d runs at a time", step, n)
			}
		}
		close(goOn)
		r.quiesce()
		if s := r.p.Stats()[0]; s.Rows != 100 || s.Conflicts != 0 {
			t.Errorf("stats %+v", s)
		}
		r.close()
		r.p.SetWorkers(3) // stopped: nothing happens
	})
}

// An observer that ends its goroutine ends a worker. Its rows are a failure like
// others, and another worker comes.
func TestGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, openMem(t), Options{Workers: 1, Attempts: 2}, watch(func(_ context.Context, _ *txn.Txn, rows []string) error {
			if rows[0] == "bad" {
				runtime.Goexit()
			}
			return nil
		})).start()
		r.set("bad", "x", "v")
		r.set("good", "x", "v")
		r.quiesce()
		letters, err := DeadLetters(context.Background(), r.db)
		if err != nil || len(letters) != 1 || letters[0].Row != "bad" || !strings.Contains(letters[0].Error, "Goexit") {
			t.Errorf("letters %+v, %v", letters, err)
		}
		if n := r.db.Running(); n != 0 {
			t.Errorf("%d transactions are left", n)
		}
		r.close()
	})
}

// TestSetWorkersStartsScan: the search for notifications of other processes, which stops during a
// pause, goes on when there are workers again.
func TestSetWorkersStartsScan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry, err := NewRegistry(watch(nothing))
		if err != nil {
			t.Fatal(err)
		}
		p := New(registry, Options{})
		p.launch = func(int) {}
		goesOn := make(chan bool, 1)
		go func() { goesOn <- p.queue.waitStarving() }()
		synctest.Wait()
		p.SetWorkers(1)
		synctest.Wait()
		if len(goesOn) == 0 {
			t.Error("the search does not go on")
		}
		p.queue.close()
	})
}
