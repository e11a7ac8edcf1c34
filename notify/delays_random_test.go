package notify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/txn"
)

// TestRandomDelays: observers with any combination of the settings that delay rows, whose runs take
// time, fail, and ask for further runs. Workers are paused, and loaders come and go. Some time after the
// last load, every row has been run after its last notification, although no caller waits for that and
// no scan helps.
func TestRandomDelays(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(testenv.Size(20, 100, 5000))) {
		if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { randomDelays(t, rand.New(rand.NewPCG(seed, 4))) })
		}) {
			return
		}
	}
}

// delays are the observers of TestRandomDelays: a, b, c and so on. Each may notify later ones.
type delays struct {
	t    *testing.T
	list []Observer

	mu    sync.Mutex
	rng   *rand.Rand
	seen  map[key]uint64 // start of the last run that committed
	noted map[key]uint64 // a timestamp at or below the last notification
	calm  bool           // nothing fails any more
}

func (d *delays) intN(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}

// below returns a duration in [0, most).
func (d *delays) below(most time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(d.rng.Int64N(int64(most)))
}

func (d *delays) span(most time.Duration) time.Duration {
	if d.intN(3) == 0 {
		return 0
	}
	return d.below(most) + 1
}

func randomDelays(t *testing.T, rng *rand.Rand) {
	d := &delays{t: t, rng: rng, seen: make(map[key]uint64), noted: make(map[key]uint64)}
	for i := range 2 + d.intN(4) {
		d.list = append(d.list, d.observer(i))
	}
	table := openMem(t)
	r := newRig(t, table, Options{
		Workers: 1 + d.intN(4), Attempts: 1000, Backlog: 1 + d.intN(40), Rescan: 1000 * time.Hour, Capacity: d.intN(2) * (3 + d.intN(60)),
	}, d.list...).start()
	var work sync.WaitGroup
	for range 1 + d.intN(3) {
		work.Go(func() { d.load(r) })
	}
	work.Go(func() {
		for range d.intN(4) {
			time.Sleep(d.below(time.Minute))
			r.p.SetWorkers(d.intN(4))
			r.p.queue.checkInvariants(t)
		}
		r.p.SetWorkers(1 + d.intN(3))
	})
	work.Wait()
	d.mu.Lock()
	d.calm = true
	d.mu.Unlock()
	time.Sleep(3 * time.Hour)
	for _, s := range r.p.Stats() {
		if s.Backlog > 0 {
			t.Errorf("%s still has %d rows, %d of them running: %+v", s.Observer, s.Backlog, s.Running, d.list[slices.IndexFunc(d.list, func(o Observer) bool { return o.Name == s.Observer })])
		}
	}
	for k, ts := range d.noted {
		if d.seen[k] <= ts {
			t.Errorf("%s was notified of %q after %d, and ran last at %d", d.list[k.observer].Name, k.row, ts, d.seen[k])
		}
	}
	r.close()
}

// observer makes observer i with random settings.
func (d *delays) observer(i int) Observer {
	name := string(rune('a' + i))
	o := Observer{Name: name, Watches: col(name), Weak: d.intN(2) == 0, Batch: 1 + d.intN(8), Linger: d.span(50 * time.Millisecond)}
	for j := range i {
		if d.intN(2) == 0 {
			o.Upstream = append(o.Upstream, string(rune('a'+j)))
		}
	}
	if o.Debounce = d.span(time.Minute); o.Debounce > 0 {
		o.FirstDebounce, o.IdleAfter = d.span(10*time.Second), d.span(time.Second)
		o.Spare = d.intN(2) == 0
		if d.intN(3) == 0 {
			o.Cooldown, o.MaxCooldown, o.CooldownWhenIdle = 0.5+float64(d.intN(4)), time.Minute, d.intN(2) == 0
		}
		if d.intN(3) == 0 {
			o.DeferRows, o.MaxDefer = int64(d.intN(30)), d.span(10*time.Minute)
		}
	}
	o.Exclusive = d.intN(3) == 0
	o.MaxOpen = max(d.intN(4)-1, 0)
	o.Run = func(ctx context.Context, tx *txn.Txn, rows []string) error { return d.run(i, tx, rows) }
	return o
}

func (d *delays) run(i int, tx *txn.Txn, rows []string) error {
	time.Sleep(d.below(100 * time.Millisecond))
	d.mu.Lock()
	defer d.mu.Unlock()
	switch n := d.rng.IntN(12); {
	case d.calm:
	case n == 0:
		return errors.New("not this time")
	case n == 1:
		return txn.ErrConflict
	case n == 2:
		return ErrUnavailable
	}
	begun := tx.Start()
	var told []key
	for _, row := range rows {
		if d.rng.IntN(6) == 0 {
			tx.Continue(row, col(d.list[i].Name))
			told = append(told, key{i, row})
		}
		if j := i + 1 + d.rng.IntN(3); j < len(d.list) {
			row = fmt.Sprint("row ", d.rng.IntN(20))
			told = append(told, key{j, row})
			if d.rng.IntN(2) == 0 {
				tx.Notify(row, col(d.list[j].Name))
			} else {
				tx.NotifyDeferrable(row, col(d.list[j].Name))
			}
		}
	}
	tx.AfterCommit(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, row := range rows {
			d.seen[key{i, row}] = max(d.seen[key{i, row}], begun)
		}
		for _, k := range told {
			d.noted[k] = max(d.noted[k], begun)
		}
	})
	return nil
}

// load notifies the first observers about rows, at times in a hurry and at times one by one.
func (d *delays) load(r *rig) {
	ctx, cancel := context.WithTimeout(d.t.Context(), 3*time.Hour)
	defer cancel()
	end := func() {}
	if d.intN(2) == 0 {
		end = r.p.Loading()
	}
	defer func() { end() }()
	for range 60 {
		err := r.p.Admit(ctx)
		switch d.intN(8) {
		case 0:
			time.Sleep(d.below(5 * time.Second))
		case 1:
			time.Sleep(d.below(50 * time.Millisecond))
		case 2:
			if d.intN(10) == 0 {
				_, err = r.p.Quiesce(ctx)
			}
		}
		if err != nil {
			d.t.Error(err)
			return
		}
		i, row := d.intN(min(2, len(d.list))), fmt.Sprint("row ", d.intN(20))
		commit, err := r.db.Run(ctx, func(tx *txn.Txn) error {
			tx.Set(row, col(d.list[i].Name), nil)
			return nil
		})
		if err != nil {
			d.t.Error(err)
		}
		d.mu.Lock()
		d.noted[key{i, row}] = max(d.noted[key{i, row}], commit)
		d.mu.Unlock()
	}
}
