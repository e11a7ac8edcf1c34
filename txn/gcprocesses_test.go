package txn

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
)

// cVersion is a version of the cell of setC.
type cVersion struct {
	ts    uint64
	value string
}

// sharedCell is the cell of setC in a table that processes write and collect at the same time, and a
// model of it.
type sharedCell struct {
	t       *testing.T
	mu      sync.Mutex // held around commits, so that the model is in order
	model   []cVersion
	removed int
}

// at returns the value at ts, inclusive.
func (s *sharedCell) at(ts uint64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, found := slices.BinarySearchFunc(s.model, ts, func(v cVersion, ts uint64) int { return cmp.Compare(v.ts, ts) })
	if !found {
		i--
	}
	return s.model[i].value
}

func (s *sharedCell) set(db *DB, random *rand.Rand, value string) {
	if random.IntN(3) == 0 {
		value = ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = append(s.model, cVersion{setC(s.t, db, value), value})
}

func (s *sharedCell) readNow(db *DB) {
	tx := mustBegin(s.t, db)
	publishAll(s.t, db)
	wantValue(s.t, tx, s.at(tx.Start()-1))
	tx.Rollback()
}

func (s *sharedCell) readPast(db *DB, random *rand.Rand) {
	now, err := db.Now(s.t.Context())
	if err != nil {
		s.t.Error(err)
	}
	now = max(now, 1)
	tx := db.At(now - min(now-1, uint64(random.IntN(50)))) // never in the future, which still changes
	v, err := tx.Get(s.t.Context(), "row", app("c"))
	if want := s.at(tx.Start()); !errors.Is(err, ErrBelowSafePoint) && (err != nil || string(v.Data) != want) {
		s.t.Errorf("at %d: %q, %v; want %q", tx.Start(), v.Data, err, want)
	}
	tx.Rollback()
}

func (s *sharedCell) pin(db *DB, random *rand.Rand, name string) {
	last, _ := db.Now(s.t.Context()) // never fails here
	pin, err := db.Pin(s.t.Context(), Pin{Name: name, TS: max(last, 50) - uint64(random.IntN(50))})
	if err != nil && !errors.Is(err, ErrBelowSafePoint) {
		s.t.Error(err)
	}
	if err == nil {
		publishAll(s.t, db)
		tx := db.At(pin.TS)
		wantValue(s.t, tx, s.at(pin.TS))
		tx.Rollback()
	}
	if random.IntN(3) > 0 {
		if err := db.Unpin(s.t.Context(), name); err != nil && !errors.Is(err, ErrNoPin) {
			s.t.Error(err)
		}
	}
}

func (s *sharedCell) collect(db *DB) {
	publishAll(s.t, db)
	got, err := db.prepare(s.t.Context())
	if err == nil {
		err = db.sweep(s.t.Context(), &got, CollectOptions{})
	}
	if err != nil && !errors.Is(err, errLocksHeld) {
		s.t.Error(err)
	}
	s.mu.Lock()
	s.removed += got.Removed()
	s.mu.Unlock()
}

// TestCollectorsOfProcesses: processes write, read now and in the past, make pins and collect, all
// at once. Each read gets what a model says, or is refused because it is too late. What is pinned can
// be read.
func TestCollectorsOfProcesses(t *testing.T) {
	table, coordinator := sharedTable(t), sharedtest.New()
	seed := testenv.Random(t).Uint64()
	s := &sharedCell{t: t, model: []cVersion{{0, ""}}}
	var work sync.WaitGroup
	for p := range 3 {
		db, _ := openShared(t, table, coordinator, Options{})
		work.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(p)))
			for i := range testenv.Size(100, 400, 20_000) {
				switch random.IntN(6) {
				case 0, 1:
					s.set(db, random, fmt.Sprint(p, ".", i))
				case 2:
					s.readNow(db)
				case 3:
					s.readPast(db, random)
				case 4:
					s.pin(db, random, fmt.Sprint(p))
				case 5:
					s.collect(db)
				}
			}
		})
	}
	work.Wait()
	if t.Logf("%d removed of %d", s.removed, len(s.model)); s.removed == 0 {
		t.Error("nothing was ever collected")
	}
}
