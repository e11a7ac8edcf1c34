package badgerdb

import (
	"context"
	"errors"
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestBroken: after a write that failed half-way the table turns every other one away, and
// says that nothing has happened.
func TestBroken(t *testing.T) {
	failure := errors.New("the disk is gone")
	db, err := Open(t.TempDir(), []store.GroupSpec{{Name: "g"}}, Options{MinFreeBytes: -1, Step: func(step string) error {
		if step == StepGroupVisible {
			return failure
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for attempt, notDone := range []bool{false, true} {
		m := store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{{Group: "g", Column: []byte("c"), TS: 1}}}
		res, err := db.Mutate(context.Background(), m)
		if res.Outcome != store.Unknown || !errors.Is(err, store.ErrBroken) || !errors.Is(err, failure) || errors.Is(err, store.ErrNotDone) != notDone {
			t.Errorf("write %d: %v, %v", attempt, res.Outcome, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
