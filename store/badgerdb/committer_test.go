package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/webindexer/indexer/store"
)

// gateClock lets a test hold the committer inside Reserve.
type gateClock struct {
	countingClock
	reached chan int // n of each Reserve
	release chan struct{}
	visible int
}

func newGateClock() *gateClock {
	return &gateClock{reached: make(chan int), release: make(chan struct{})}
}

func (c *gateClock) Reserve(n int) (uint64, error) {
	c.reached <- n
	<-c.release
	return c.countingClock.Reserve(n)
}

func (c *gateClock) Visible() { c.visible++ }

func commitRow(name string) []store.RowMutation {
	return []store.RowMutation{{Row: []byte(name), Mutations: []store.Mutation{mutation("data", "c", store.AtCommit, "v")}}}
}

// commits expects that a Commit is applied.
func commits(ctx context.Context, t *testing.T, db *DB, row string) {
	t.Helper()
	if _, res, err := db.Commit(ctx, commitRow(row)); err != nil || res.Outcome != store.Applied {
		t.Errorf("Commit of row %s: %v, %v", row, res.Outcome, err)
	}
}

// hold starts a Commit and returns once the committer is inside Reserve for it.
func hold(t *testing.T, db *DB, clock *gateClock, wg *sync.WaitGroup) {
	db.callers.Add(1) // as if another caller were there: the goroutine writes
	defer db.callers.Add(-1)
	t.Helper()
	wg.Go(func() { commits(t.Context(), t, db, "held") })
	<-clock.reached
}

// TestWithdraw: a context that ends while the request is queued withdraws it; one
// that ends while its group is being written changes nothing.
func TestWithdraw(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{})
	defer closeTest(t, db)
	clock := newGateClock()
	db.UseClock(clock)
	var wg sync.WaitGroup
	hold(t, db, clock, &wg)

	queuedCtx, cancel := context.WithCancel(context.Background())
	answered := make(chan error)
	go func() {
		_, _, err := db.Commit(queuedCtx, commitRow("withdrawn"))
		answered <- err
	}()
	cancel() // queued or not yet: in neither case can the committer take it
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("Commit with an ended context: %v", err)
	}
	clock.release <- struct{}{}
	wg.Wait()

	takenCtx, cancel := context.WithCancel(context.Background())
	wg.Go(func() { commits(takenCtx, t, db, "taken") }) // its context ends while it is written
	<-clock.reached
	cancel()
	clock.release <- struct{}{}
	wg.Wait()
	for row, want := range map[string]string{"held": "data:c@1=v", "withdrawn": "", "taken": "data:c@2=v"} {
		if got := readRow(t, db, row); got != want {
			t.Errorf("row %s: %s, want %s", row, got, want)
		}
	}
}

// TestGroups: what queues up behind a group becomes one group.
func TestGroups(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{})
	defer closeTest(t, db)
	clock := newGateClock()
	db.UseClock(clock)
	var wg sync.WaitGroup
	hold(t, db, clock, &wg)
	const n = 20
	for i := range n {
		wg.Go(func() { commits(t.Context(), t, db, fmt.Sprint(i)) })
	}
	for len(db.queue) < n { // they only have to arrive
		runtime.Gosched()
		if t.Context().Err() != nil {
			t.Fatal("the requests do not arrive")
		}
	}
	clock.release <- struct{}{}
	if got := <-clock.reached; got != n {
		t.Errorf("Reserve(%d), want all %d in one group", got, n)
	}
	clock.release <- struct{}{}
	wg.Wait()
	if s := db.Stats(); s.Groups != 2 || s.Requests != n+1 || clock.visible != 2 {
		t.Errorf("%+v, %d times visible", s, clock.visible)
	}
}

// TestFailedWrite: after a failed write the outcome is unknown, and the table refuses
// further writes.
func TestFailedWrite(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{})
	clock := newGateClock()
	db.UseClock(clock)
	mustMutate(t, db, "before", mutation("data", "c", 1, "v"))
	var wg sync.WaitGroup
	wg.Go(func() {
		_, res, err := db.Commit(context.Background(), commitRow("r"))
		if err == nil || res.Outcome != store.Unknown {
			t.Errorf("Commit: %v, %v; want unknown", res.Outcome, err)
		}
	})
	<-clock.reached
	if err := db.badger.Close(); err != nil { // the floor gives way
		t.Error(err)
	}
	clock.release <- struct{}{}
	wg.Wait()
	if clock.visible != 1 {
		t.Errorf("Visible was called %d times, want once, or readers hang", clock.visible)
	}
	for range 2 {
		if _, err := db.Mutate(context.Background(), store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{mutation("data", "c", 1, "v")}}); err == nil {
			t.Error("a write after a failed one succeeded")
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestByCaller: a caller that is alone writes its request itself; the goroutine writes
// those that come meanwhile, after it, and they can be withdrawn until then.
func TestByCaller(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{})
	defer closeTest(t, db)
	clock := newGateClock()
	db.UseClock(clock)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	for _, row := range []string{"alone", "second", "withdrawn"} {
		wg.Go(func() {
			from := context.Background()
			if row == "withdrawn" {
				from = ctx
			}
			_, res, err := db.Commit(from, commitRow(row))
			if row == "withdrawn" && !errors.Is(err, store.ErrNotDone) || row != "withdrawn" && (err != nil || res.Outcome != store.Applied) {
				t.Errorf("%s: %v, %v", row, res.Outcome, err)
			}
		})
		if row == "alone" {
			<-clock.reached // by the caller: nobody has the goroutine's queue
		}
	}
	if db.committer.writeMu.TryLock() {
		t.Error("nobody holds writeMu")
	}
	for db.callers.Load() < 3 {
		runtime.Gosched()
	}
	cancel()
	for db.callers.Load() > 2 { // the one that is withdrawn has gone
		runtime.Gosched()
	}
	clock.release <- struct{}{}
	if got := <-clock.reached; got != 1 {
		t.Errorf("Reserve(%d), want the second alone", got)
	}
	clock.release <- struct{}{}
	wg.Wait()
	if got := readRow(t, db, "withdrawn"); got != "" {
		t.Errorf("the withdrawn row has %s", got)
	}
}
