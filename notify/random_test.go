package notify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

var settings = []struct {
	name string
	open func(testing.TB) store.Table
	mode txn.Mode
}{
	{"mem/onephase", openMem, txn.OnePhase},
	{"mem/twophase", openMem, txn.TwoPhase},
	{"badger/onephase", openBadger, txn.OnePhase},
	{"badger/twophase", openBadger, txn.TwoPhase},
}

// TestRandomSteps loads random documents between runs in a random order, with
// observers that fail, with restarts that lose everything in memory and with a
// queue that overflows. At the end the observers have what a direct computation
// has.
func TestRandomSteps(t *testing.T) {
	for _, set := range settings {
		t.Run(set.name, func(t *testing.T) {
			for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(seedsFor(set.name, 80))) {
				if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomSteps(t, set.open(t), set.mode, seed) }) {
					return
				}
			}
		})
	}
}

// seedsFor has fewer seeds for the slower engine, and for -short.
func seedsFor(name string, n int) int {
	if name[0] == 'b' {
		n /= 6
	}
	if testing.Short() {
		n /= 4
	}
	return max(n, 1)
}

func randomSteps(t *testing.T, table store.Table, mode txn.Mode, seed uint64) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(seed, 2))
	w := &words{t: t, rng: rng, odds: 12}
	opts := Options{Attempts: 1 + rng.IntN(4), Capacity: 2 + rng.IntN(30)}
	pick := rng.IntN
	docs := make(map[string]string)
	var r *rig
	var s *Stepper
	restart := func() {
		if r != nil {
			r.close()
		}
		r = newRigMode(t, table, opts, mode, w.observers()...)
		var err error
		if s, err = NewStepper(ctx, r.p, r.db); err != nil {
			t.Fatal(err)
		}
	}
	restart()
	defer func() { r.close() }()
	for range 60 {
		switch rng.IntN(12) {
		case 0:
			restart()
		case 1, 2, 3, 4:
			doc := fmt.Sprint("d/", rng.IntN(6))
			docs[doc] = randomText(rng)
			r.set(doc, "text", docs[doc])
		default:
			order := pick
			if rng.IntN(3) == 0 {
				order = nil
			}
			if _, err := s.Step(ctx, order); err != nil {
				t.Fatal(err)
			}
		}
		r.p.queue.checkInvariants(t)
	}
	w.odds = 0
	r.drain(s, pick)
	r.wantTotals(r.db.LastTimestamp(), docs)
}

// drain works everything off, dead letters included.
func (r *rig) drain(s *Stepper, pick func(int) int) {
	r.t.Helper()
	ctx := context.Background()
	for {
		if err := s.Drain(ctx, pick); err != nil {
			r.t.Fatal(err)
		}
		letters, err := DeadLetters(ctx, r.db)
		if err != nil {
			r.t.Fatal(err)
		}
		if len(letters) == 0 {
			return
		}
		if err := r.p.Retry(ctx, letters[0].Observer, letters[0].Row); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestRandomWorkers is the same with workers and loaders that really run at the
// same time, and pipelines that are stopped in the middle of it.
func TestRandomWorkers(t *testing.T) {
	for _, set := range settings {
		t.Run(set.name, func(t *testing.T) {
			for seed := range testenv.Seeds(t, testenv.Fresh(t), uint64(seedsFor(set.name, 12))) {
				if !t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomWorkers(t, set.open(t), set.mode, seed) }) {
					return
				}
			}
		})
	}
}

func randomWorkers(t *testing.T, table store.Table, mode txn.Mode, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	w := &words{t: t, rng: rng}
	docs := make(map[string]string)
	for round := range 3 {
		w.odds = []int{30, 0}[rng.IntN(2)]
		opts := Options{Workers: 1 + rng.IntN(4), Capacity: 4 + rng.IntN(60), Backlog: 1 + rng.IntN(20), Attempts: 100}
		r := newRigMode(t, table, opts, mode, w.observers()...).start()
		loadRandom(r, docs, rand.New(rand.NewPCG(seed, uint64(round))))
		if round == 2 {
			ts := r.quiesce()
			r.wantTotals(ts, docs)
		}
		r.close()
	}
}

// loadRandom loads documents from three goroutines, each its own.
func loadRandom(r *rig, docs map[string]string, rng *rand.Rand) {
	type load struct{ doc, text string }
	var loads [3][]load
	for range 90 {
		i := rng.IntN(3)
		l := load{fmt.Sprint("d/", i, rng.IntN(4)), randomText(rng)}
		docs[l.doc] = l.text
		loads[i] = append(loads[i], l)
	}
	var work sync.WaitGroup
	for _, mine := range loads {
		work.Go(func() {
			for _, l := range mine {
				ctx := context.Background()
				err := r.p.Admit(ctx)
				_, err2 := r.db.Run(ctx, func(tx *txn.Txn) error { tx.Set(l.doc, col("text"), []byte(l.text)); return nil })
				if err := errors.Join(err, err2); err != nil {
					r.t.Errorf("load %s: %v", l.doc, err)
				}
			}
		})
	}
	work.Wait()
}
