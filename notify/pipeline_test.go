package notify

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// watch is an observer of column x that does nothing but what run says.
func watch(run runFunc) Observer {
	return Observer{Name: "watch", Watches: col("x"), Run: run}
}

func nothing(context.Context, *txn.Txn, []string) error { return nil }

func TestNewRegistryRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		list []Observer
		want string
	}{
		{"no name", []Observer{{Watches: col("x"), Run: nothing}}, "empty"},
		{"zero byte", []Observer{{Name: "a\x00", Watches: col("x"), Run: nothing}}, "zero byte"},
		{"long name", []Observer{{Name: strings.Repeat("a", 300), Watches: col("x"), Run: nothing}}, "longer than"},
		{"twice", []Observer{{Name: "a", Watches: col("x"), Run: nothing}, {Name: "a", Watches: col("y"), Run: nothing}}, "two observers"},
		{"no run", []Observer{{Name: "a", Watches: col("x")}}, "no Run"},
		{"no column", []Observer{{Name: "a", Watches: txn.Column{Group: "app"}, Run: nothing}}, "no column"},
		{"no group", []Observer{{Name: "a", Watches: txn.Column{Name: "x"}, Run: nothing}}, "no column"},
	} {
		if _, err := NewRegistry(tc.list...); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestRegistryList(t *testing.T) {
	r, err := NewRegistry(watch(nothing))
	if err != nil {
		t.Fatal(err)
	}
	r.List()[0].Name = "other"
	if got := r.List()[0].Name; got != "watch" {
		t.Errorf("the list can be changed from outside: %s", got)
	}
	if got := r.Observers(col("x")); !slices.Equal(got, []string{"watch"}) {
		t.Errorf("observers %v", got)
	}
}

func TestRunsOnce(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, openMem(t), Options{}, watch(nothing))
	if _, err := r.p.Quiesce(ctx); !errors.Is(err, ErrStopped) {
		t.Errorf("Quiesce before Start: %v", err)
	}
	if err := errors.Join(r.p.Retry(ctx, "watch", "a"), r.p.Drop(ctx, "watch", "a")); !errors.Is(err, ErrStopped) {
		t.Errorf("dead letters before Start: %v", err)
	}
	r.start()
	if err := r.p.Start(ctx, r.db); err == nil {
		t.Error("Start twice")
	}
	r.close()
	if err := r.p.Stop(); err != nil {
		t.Errorf("Stop twice: %v", err)
	}
	if err := r.p.Start(ctx, r.db); err == nil {
		t.Error("Start after Stop")
	}
	if err := r.p.Admit(ctx); !errors.Is(err, ErrStopped) {
		t.Errorf("Admit after Stop: %v", err)
	}
	r.p.Handover([]txn.Notification{{Cell: txn.Cell{Row: "a", Column: col("x")}, Observer: "watch", TS: 1}})

	never := newRig(t, openMem(t), Options{}, watch(nothing))
	never.close()
	if err := never.p.Start(ctx, never.db); err == nil {
		t.Error("Start after Stop without Start")
	}
}

// Two processes cannot open one table, but two pipelines in one can stand for two
// workers that were both told of one notification: both run, one commits.
func TestAtMostOneCommits(t *testing.T) {
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			begun, goOn := 0, make(chan struct{})
			observer := watch(func(context.Context, *txn.Txn, []string) error {
				mu.Lock()
				begun++
				mu.Unlock()
				<-goOn
				return nil
			})
			ran := 0
			opts := Options{Workers: 1, Events: Events{Ran: func(string, int, time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				ran++
			}}}
			r := newRigMode(t, openMem(t), opts, mode, observer).start()
			r.set("a", "x", "1")
			synctest.Wait()
			second := New(r.p.registry, opts)
			if err := second.Start(context.Background(), r.db); err != nil { // its scan finds a
				t.Fatal(err)
			}
			synctest.Wait()
			if begun != 2 {
				t.Errorf("%d runs have begun, want 2", begun)
			}
			close(goOn)
			r.quiesce()
			time.Sleep(time.Second) // the one that met a conflict looks again
			synctest.Wait()
			if ran != 1 {
				t.Errorf("%d runs have committed, want 1", ran)
			}
			if n := second.Backlog(); n != 0 {
				t.Errorf("the second pipeline still has %d rows", n)
			}
			if err := second.Stop(); err != nil {
				t.Error(err)
			}
			r.close()
		})
	}
}

// The delays before a failed row is run again double up to a bound.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		observer := watch(func(context.Context, *txn.Txn, []string) error {
			at = append(at, time.Now())
			return errors.New("no")
		})
		r := newRig(t, openMem(t), Options{Workers: 1}, observer).start()
		r.set("a", "x", "1")
		r.quiesce()
		if len(at) != 12 {
			t.Fatalf("%d attempts, want 12", len(at))
		}
		for i := range at[1:] {
			want := failureDelay << min(i, mostDoublings)
			if d := at[i+1].Sub(at[i]); d < want/2 || d >= want {
				t.Errorf("delay %d is %v, want %v to %v", i+1, d, want/2, want)
			}
		}
		letters, err := DeadLetters(context.Background(), r.db)
		if err != nil || len(letters) != 1 || letters[0].Attempts != 12 {
			t.Errorf("letters %+v, %v", letters, err)
		}
		r.close()
	})
}

// Waiting ends with its context; runs under way do not end with Start's.
func TestContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		observer := watch(func(ctx context.Context, _ *txn.Txn, _ []string) error {
			select {
			case <-goOn:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		r := newRig(t, openMem(t), Options{Backlog: 1}, observer)
		startCtx, endStart := context.WithCancel(context.Background())
		if err := r.p.Start(startCtx, r.db); err != nil {
			t.Fatal(err)
		}
		endStart()
		r.set("a", "x", "1")
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, errors.New("tired"))
		defer cancel()
		if err := r.p.Admit(ctx); err == nil || err.Error() != "tired" {
			t.Errorf("Admit: %v", err)
		}
		if _, err := r.p.Quiesce(ctx); err == nil || err.Error() != "tired" {
			t.Errorf("Quiesce: %v", err)
		}
		if n := len(r.p.queue.watchers); n != 1 { // rescan's
			t.Errorf("%d watchers are left", n)
		}
		close(goOn)
		r.quiesce()
		if s := r.p.Stats()[0]; s.Runs != 1 || s.Failures != 0 {
			t.Errorf("stats %+v", s)
		}
		r.close()
	})
}

// An unusable store stops the pipeline, and ends all waiting.
func TestStoreClosed(t *testing.T) {
	ctx := context.Background()
	table := openMem(t)
	goOn := make(chan struct{})
	r := newRig(t, table, Options{}, watch(func(context.Context, *txn.Txn, []string) error { <-goOn; return nil })).start()
	r.set("a", "x", "1")
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	close(goOn)
	if _, err := r.p.Quiesce(ctx); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Quiesce: %v", err)
	}
	if err := r.p.Stop(); !errors.Is(err, store.ErrClosed) || !strings.Contains(err.Error(), "watch") {
		t.Errorf("Stop: %v", err)
	}
	if err := r.p.Admit(ctx); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Admit: %v", err)
	}
	if err := r.db.Close(); err != nil {
		t.Error(err)
	}
}

// More rows than the queue holds are notified without end. The others get their turn:
// scans continue where the last one stopped, and rows that are notified again go to the
// end of the line.
func TestOverflowIsFair(t *testing.T) {
	ctx := context.Background()
	runs := make(map[string]int)
	r := newRig(t, openMem(t), Options{Capacity: 3}, watch(func(_ context.Context, tx *txn.Txn, rows []string) error {
		runs[rows[0]]++
		if rows[0] != "z" {
			tx.Notify(rows[0], col("x"))
		}
		return nil
	}))
	s, err := NewStepper(ctx, r.p, r.db)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"a", "b", "c", "d", "e", "f", "g", "z"} {
		r.set(row, "x", "1")
	}
	if err := r.p.Admit(ctx); err != nil { // with a full queue
		t.Error(err)
	}
	for range 80 {
		if _, err := s.Step(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		if n := runs[row]; n < 8 || n > 15 {
			t.Errorf("%s was run %d times of 80, as one of 7", row, n)
		}
	}
	if runs["z"] != 1 {
		t.Errorf("z was run %d times", runs["z"])
	}
	r.close()
}
