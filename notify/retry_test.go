package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/txn"
)

// TestHalves: after a conflict or a failure a batch comes back in halves, as batches. If one of its
// rows conflicts or fails each time, that row ends alone, and no other row waits for it. After a
// failure that no row has caused, the batch comes back as it is.
func TestHalves(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		fails func(run int, rows []string) bool
		want  []int // rows of the runs that committed, ascending
		dead  []string
	}{
		{"never", nil, func(int, []string) bool { return false }, []int{9}, nil},
		{"a conflict, once", txn.ErrConflict, func(run int, _ []string) bool { return run == 1 }, []int{4, 5}, nil},
		{"a conflict of one row, five times", txn.ErrConflict, func(run int, rows []string) bool { return run < 10 && slices.Contains(rows, "0") }, []int{1, 1, 1, 2, 4}, nil},
		{"a failure of one row", errors.New("a bug"), func(_ int, rows []string) bool { return slices.Contains(rows, "0") }, []int{1, 2, 2, 3}, []string{"0"}},
		{"nothing answers, three times", ErrUnavailable, func(run int, _ []string) bool { return run <= 3 }, []int{9}, nil},
		{"too large with more than three rows", txn.ErrTooLarge, func(_ int, rows []string) bool { return len(rows) > 3 }, []int{3, 3, 3}, nil},
		{"too large alone", txn.ErrTooLarge, func(_ int, rows []string) bool { return slices.Contains(rows, "4") }, []int{1, 2, 2, 3}, []string{"4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var sizes []int
				var dead []string
				runs := 0
				opts := Options{Workers: 0, Attempts: 3, Events: Events{Dead: func(_, row string, _ error) {
					mu.Lock()
					defer mu.Unlock()
					dead = append(dead, row)
				}}}
				r := newRig(t, openMem(t), opts, Observer{Name: "o", Watches: col("x"), Batch: 20, Run: func(_ context.Context, _ *txn.Txn, rows []string) error {
					mu.Lock()
					defer mu.Unlock()
					if runs++; c.fails(runs, rows) {
						return fmt.Errorf("a test: %w", c.err)
					}
					sizes = append(sizes, len(rows))
					return nil
				}}).start()
				r.p.SetWorkers(0)
				synctest.Wait()
				for i := range 9 {
					r.set(fmt.Sprint(i), "x", "v")
				}
				r.p.SetWorkers(1)
				r.quiesce()
				slices.Sort(sizes)
				if !slices.Equal(sizes, c.want) || !slices.Equal(dead, c.dead) {
					t.Errorf("runs of %v rows committed, want %v; gave up on %q, want %q", sizes, c.want, dead, c.dead)
				}
				r.close()
			})
		})
	}
}

// TestNotTheRowsFault: runs that could not begin, and an observer that could not reach what it needs,
// make no dead letter, however often they come.
func TestNotTheRowsFault(t *testing.T) {
	for _, err := range []error{errBegin, errEarly, ErrUnavailable, txn.ErrConflict, txn.ErrUnknown} {
		runs := 0
		r := newRig(t, openMem(t), Options{Attempts: 2}, watch(func(context.Context, *txn.Txn, []string) error { runs++; return nil }))
		s, serr := NewStepper(t.Context(), r.p, r.db)
		if serr != nil {
			t.Fatal(serr)
		}
		r.set("a", "x", "v")
		for range 10 {
			batch := r.p.queue.pick(nil)
			if len(batch) != 1 {
				t.Fatalf("%v: %d rows are ready", err, len(batch))
			}
			r.p.ended(t.Context(), &r.p.registry.list[0], batch, Attempt{Err: fmt.Errorf("a test: %w", err)})
		}
		if err := s.Drain(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if letters, lerr := DeadLetters(t.Context(), r.db); lerr != nil || len(letters) > 0 || runs != 1 {
			t.Errorf("%v: dead letters %v, %v; %d runs", err, letters, lerr, runs)
		}
		r.close()
	}
}
