package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/txn"
)

// Each attempt is reported with its timestamps, whatever its outcome: one that fails,
// one that has a conflict, and one that commits, in this order.
func TestAttemptsAreTold(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			var mu sync.Mutex
			var told []Attempt
			runs := 0
			var r *rig
			run := func(ctx context.Context, tx *txn.Txn, rows []string) error {
				runs++
				switch runs {
				case 1:
					return errors.New("no luck")
				case 2: // another transaction writes the same cell
					r.set("other", "sum", "theirs")
				}
				tx.Set("other", col("sum"), []byte("ours"))
				return nil
			}
			r = newRig(t, engine.open(t), Options{Workers: 1, Events: Events{Tried: func(a Attempt) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, a)
			}}}, Observer{Name: "sum", Watches: col("n"), Run: run})
			r.start()
			r.set("row", "n", "1")
			r.quiesce()
			mu.Lock()
			defer mu.Unlock()
			if len(told) != 3 {
				t.Fatalf("%d attempts: %+v", len(told), told)
			}
			for i, want := range []func(Attempt) bool{
				func(a Attempt) bool { return a.Commit == 0 && strings.Contains(fmt.Sprint(a.Err), "no luck") },
				func(a Attempt) bool { return a.Commit == 0 && errors.Is(a.Err, txn.ErrConflict) },
				func(a Attempt) bool { return a.Commit > a.Start && a.Err == nil },
			} {
				a := told[i]
				if !want(a) || a.Observer != "sum" || a.Start == 0 || fmt.Sprint(a.Rows) != "[row]" || a.Began.IsZero() || a.Waited < 0 || a.Took < 0 {
					t.Errorf("attempt %d: %+v", i, a)
				}
			}
			s := r.p.Stats()[0]
			if s.Retries != 2 || s.Conflicts != 1 || s.Failures != 1 || s.Runs != 1 || s.Took.N() != 1 || s.Waited.N() != 1 || s.Busy != s.Took.Sum {
				t.Errorf("stats %+v", s)
			}
			r.close()
		})
	}
}

func TestReady(t *testing.T) {
	r := newRig(t, openMem(t), Options{Workers: 1}, Observer{Name: "o", Watches: col("n"), Run: func(context.Context, *txn.Txn, []string) error { return nil }})
	for _, step := range []struct {
		what string
		do   func()
		want error
	}{
		{"before start", func() {}, ErrStopped},
		{"started", func() { r.start() }, nil},
		{"without workers", func() { r.p.SetWorkers(0) }, ErrPaused},
		{"with workers again", func() { r.p.SetWorkers(2) }, nil},
		{"stopped", func() { r.close() }, ErrStopped},
	} {
		step.do()
		if err := r.p.Ready(); !errors.Is(err, step.want) || step.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", step.what, err, step.want)
		}
	}
}
