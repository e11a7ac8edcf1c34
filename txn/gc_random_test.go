package txn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/store"
)

// A random program collects garbage at any moment, even while some commits have stopped
// half-way and others have crashed. Every later read is compared with a model that
// forgets nothing, so a collection needs no check of its own.

// collect takes one step of a collector, or sweeps.
func (r *random) collect() {
	ctx := context.Background()
	var (
		got Collected
		err error
	)
	if r.rng.IntN(2) == 0 {
		c := &Collector{db: r.db}
		err = c.step(ctx, nil)
		got = c.Total()
	} else {
		got, err = r.collectAll(ctx)
	}
	if err != nil && !errors.Is(err, errLocksHeld) {
		r.wrongf("collect: %v", err)
	}
	r.logf("collected up to %d: %d cells, %d removed, %d locks, %v", got.SafePoint, got.Cells, got.Removed(), got.Locks, err)
	for _, x := range r.live {
		if got.SafePoint > x.start {
			r.wrongf("the safe point %d is above %d, which is open", got.SafePoint, x.start)
		}
	}
	r.readPast(got.SafePoint)
}

// collectAll is Collect without waiting for locks that are not abandoned yet.
func (r *random) collectAll(ctx context.Context) (Collected, error) {
	got, err := r.db.prepare(ctx)
	if err == nil {
		err = r.db.sweep(ctx, &got, CollectOptions{Queue: r})
	}
	return got, err
}

// PauseScans implements Queue: it holds the rows whose notifications a transaction has in
// hand.
func (r *random) PauseScans(fn func(waiting func(row, observer string) bool) error) error {
	return fn(func(row, _ string) bool {
		return slices.ContainsFunc(r.live, func(x *randomTxn) bool {
			_, ok := x.triggers[Cell{row, app(observed)}]
			return ok
		})
	})
}

// readPast reads at the safe point, and below it.
func (r *random) readPast(p uint64) {
	if p < 2 {
		return
	}
	ctx, cancel := r.patience(&randomTxn{modelTxn: modelTxn{start: r.db.SafePoint() + 1}}, func(Cell) bool { return true })
	defer cancel()
	below := r.db.At(r.db.SafePoint() - 1)
	defer below.Rollback()
	if _, err := below.Get(ctx, "row0", app("a")); !errors.Is(err, ErrBelowSafePoint) {
		r.wrongf("a read below the safe point: %v", err)
	}
	at := r.db.At(r.db.SafePoint())
	defer at.Rollback()
	x := &randomTxn{tx: at, modelTxn: modelTxn{start: at.Start() + 1}} // At also sees what committed at its timestamp
	got, err := scanAll(ctx, at)
	r.compare(x, "", got, err)
}

// checkCollected: without open transactions a full collection leaves of each cell its value
// and nothing else.
func (r *random) checkCollected() {
	if _, err := r.db.Collect(context.Background(), CollectOptions{Queue: r}); err != nil {
		r.wrongf("%v", err)
		return
	}
	want := 0
	for c := range r.model.versions {
		if r.model.get(&modelTxn{start: ^uint64(0)}, c).Exists {
			want++
		}
	}
	kinds := make(map[byte]int)
	acks := 0
	for _, g := range []string{"app", ackGroup} {
		_, err := r.table.Scan(context.Background(), store.Range{Group: g}, func(c store.Cell) error {
			if g == ackGroup {
				acks++
			} else {
				kinds[c.Column[0]]++
			}
			return nil
		})
		if err != nil {
			r.wrongf("%v", err)
		}
	}
	if kinds[kindWrite] != want || kinds[kindData] > want || kinds[kindRollback]+kinds[kindLockOnly] > 0 {
		r.wrongf("%d cells exist; a full collection left %d w, %d d, %d r, %d k", want, kinds[kindWrite], kinds[kindData], kinds[kindRollback], kinds[kindLockOnly])
	}
	if acks > randomRows {
		r.wrongf("%d acknowledgements of %d rows", acks, randomRows)
	}
}

// FuzzCollect runs the random program of a seed, in both modes.
func FuzzCollect(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, m := range modes {
			synctest.Test(t, func(t *testing.T) {
				if wrong, log := runRandom(t, openMem(t, Groups("app")), m.mode, newProgram(seed), true); len(wrong) > 0 {
					t.Errorf("%s\n%s", strings.Join(wrong, "\n"), strings.Join(log, "\n"))
				}
			})
		}
	})
}
