package mem_test

import (
	"context"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

func TestTwoPhaseOnlyHidesTheCapabilities(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		table, err := mem.New([]store.GroupSpec{{Name: "g"}}, mem.Options{TwoPhaseOnly: hidden})
		if err != nil {
			t.Fatal(err)
		}
		_, snapshotter := table.(store.Snapshotter)
		_, committer := table.(store.Committer)
		if snapshotter == hidden || committer == hidden {
			t.Errorf("TwoPhaseOnly=%v: Snapshotter %v, Committer %v", hidden, snapshotter, committer)
		}
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadBack(t *testing.T) {
	table, err := mem.New([]store.GroupSpec{{Name: "g"}}, mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for ts := uint64(1); ts <= 3; ts++ {
		_, err := table.Mutate(ctx, store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{{Group: "g", Column: []byte("c"), TS: ts, Value: []byte{byte(ts)}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	cells, err := table.Read(ctx, []byte("r"), store.Selector{Group: "g", Column: []byte("c"), MaxTS: 2, Newest: 1})
	if err != nil || len(cells) != 1 || cells[0].TS != 2 {
		t.Fatalf("got %v, %v; want the version at 2", cells, err)
	}
}
