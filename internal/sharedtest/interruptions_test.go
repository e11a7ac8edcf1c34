package sharedtest

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// TestInterruptions: a stopped process is dead, a late write fails and takes effect in the end, and
// so does one whose answer is lost.
func TestInterruptions(t *testing.T) {
	const never = min(1<<62, math.MaxInt)
	for _, tc := range []struct {
		name  string
		i     *Interruptions
		dead  bool
		fails bool
	}{
		{"stop", &Interruptions{Stop: 1, Late: never, Lost: never}, true, false},
		{"late", &Interruptions{Stop: never, Late: 1, Lost: never}, false, true},
		{"lost", &Interruptions{Stop: never, Late: never, Lost: 1}, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner, err := mem.New([]store.GroupSpec{{Name: "g"}}, mem.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer inner.Close()
				i, process := tc.i, New().Join()
				i.MaxStop, i.Random = 10, rand.New(rand.NewPCG(1, 2))
				table := i.Wrap(inner, process)
				row := []byte("row")
				_, err = table.Mutate(t.Context(), store.RowMutation{Row: row, Mutations: []store.Mutation{{Group: "g", Column: []byte("c"), TS: 1}}})
				if (err != nil) != tc.fails || errors.Is(process.Valid(), ErrDead) != tc.dead || (i.Stops() > 0) != tc.dead {
					t.Errorf("the write: %v; the process: %v; %d stops", err, process.Valid(), i.Stops())
				}
				i.Wait()
				if cells, err := inner.Read(t.Context(), row, store.Selector{Group: "g", Column: []byte("c")}); err != nil || len(cells) != 1 {
					t.Errorf("in the end the row has %d cells, %v; want the one that was written", len(cells), err)
				}
			})
		})
	}
}
