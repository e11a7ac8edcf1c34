package notify

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/txn"
)

// TestAdmitByAge: Admit waits while a row has waited too long for a worker, and no longer
// than until a worker takes it. Rows that wait for something else do not count.
func TestAdmitByAge(t *testing.T) {
	const run = 400 * time.Millisecond
	slow := func(o Observer) Observer {
		o.Name, o.Watches = "slow", col("x")
		o.Run = func(context.Context, *txn.Txn, []string) error {
			time.Sleep(run)
			return nil
		}
		return o
	}
	for _, tc := range []struct {
		name     string
		observer Observer
		workers  int
		rows     []string
		asked    time.Duration // when Admit is called
		admitted time.Duration // when it returns
	}{
		{"young", Observer{}, 1, []string{"a", "b", "c", "d", "e", "f"}, 900 * time.Millisecond, 900 * time.Millisecond},
		{"old, until the last one is taken", Observer{}, 1, []string{"a", "b", "c", "d", "e", "f"}, 1100 * time.Millisecond, 5 * run},
		{"old, two workers", Observer{}, 2, []string{"a", "b", "c", "d", "e", "f", "g", "h"}, 1100 * time.Millisecond, 3 * run},
		{"exclusive", Observer{Exclusive: true, Batch: 1}, 2, []string{"a", "b", "c", "d", "e", "f"}, 1100 * time.Millisecond, 1100 * time.Millisecond},
		{"held for collapsing", Observer{Debounce: time.Minute}, 1, []string{"a", "b"}, 5 * time.Second, 5 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				upstream := Observer{Name: "upstream", Watches: col("y"), Run: func(context.Context, *txn.Txn, []string) error {
					time.Sleep(time.Hour) // so that downstream is held for collapsing
					return nil
				}}
				observers := []Observer{slow(tc.observer)}
				if tc.observer.Debounce > 0 {
					observers[0].Upstream = []string{"upstream"}
					observers = append([]Observer{upstream}, observers...)
				}
				r := newRig(t, openMem(t), Options{Workers: tc.workers}, observers...).start()
				defer r.close()
				if tc.observer.Debounce > 0 {
					r.set("up", "y", "1")
				}
				for _, row := range tc.rows {
					r.set(row, "x", "1")
				}
				began := time.Now()
				time.Sleep(tc.asked)
				if err := r.p.Admit(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != tc.admitted {
					t.Errorf("admitted after %s, want %s", took, tc.admitted)
				}
			})
		})
	}
}

// TestAdmitByAgeLetsAllIn: all callers that wait for the same old row are let in when it is taken.
func TestAdmitByAgeLetsAllIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		r := newRig(t, openMem(t), Options{Workers: 1}, watch(func(context.Context, *txn.Txn, []string) error {
			<-goOn
			return nil
		})).start()
		defer r.close()
		r.set("a", "x", "1")
		r.set("b", "x", "1")
		time.Sleep(2 * time.Second)
		admitted := make(chan error, 3)
		for range cap(admitted) {
			go func() { admitted <- r.p.Admit(t.Context()) }()
		}
		synctest.Wait()
		if n := len(admitted); n != 0 {
			t.Errorf("%d callers were let in while a row had waited for two seconds", n)
		}
		goOn <- struct{}{} // a is done, b is taken
		for range cap(admitted) {
			if err := <-admitted; err != nil {
				t.Error(err)
			}
		}
		close(goOn)
	})
}

// TestAdmitByAgeHoldsDebounced: a caller that waits for an old row does not end the delay
// of debounced rows: they would have to run again after what it loads.
func TestAdmitByAgeHoldsDebounced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		held := Observer{Name: "held", Watches: col("y"), Debounce: time.Minute, IdleAfter: time.Minute, Upstream: []string{"quiet"},
			Run: func(context.Context, *txn.Txn, []string) error {
				ran++
				return nil
			}}
		quiet := Observer{Name: "quiet", Watches: col("z"), Run: func(context.Context, *txn.Txn, []string) error { return nil }}
		slow := watch(func(context.Context, *txn.Txn, []string) error {
			time.Sleep(400 * time.Millisecond)
			return nil
		})
		r := newRig(t, openMem(t), Options{Workers: 1}, slow, quiet, held).start()
		defer r.close()
		for _, row := range []string{"a", "b", "c", "d", "e", "f"} {
			r.set(row, "x", "1")
		}
		r.set("h", "y", "1")
		time.Sleep(1100 * time.Millisecond)
		if err := r.p.Admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second) // its own delay is 12 s
		synctest.Wait()
		if ran > 0 {
			t.Error("a debounced row ran because a caller waited for another row")
		}
	})
}

// TestSharedAdmitAfterStop: a stopped pipeline admits no caller, whatever the last count left.
func TestSharedAdmitAfterStop(t *testing.T) {
	f := newFleet(t)
	loader := f.join(0)
	loader.load(0, 1)
	loader.close()
	for range 20 { // a select of the free turn and the end takes either
		if err := loader.p.Admit(t.Context()); !errors.Is(err, ErrStopped) {
			t.Fatalf("it admits a caller after Stop: %v", err)
		}
	}
}
