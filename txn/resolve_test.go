package txn

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
)

// TestResolveAbandoned: the locks of a process that died are gone after one call,
// rolled forward where its primary had committed and back where it had not, and
// the locks of a live transaction remain.
func TestResolveAbandoned(t *testing.T) {
	ctx := context.Background()
	table, err := mem.New(Groups("g"), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop := ""
	step := func(name string, _ Cell) error {
		if name == stop {
			return ErrCrash
		}
		return nil
	}
	col := Column{Group: "g", Name: "c"}
	crash := func(at, value string, rows ...string) {
		db, err := Open(ctx, table, Options{Mode: TwoPhase, Step: step})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		tx, err := db.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			tx.Set(r, col, []byte(value))
		}
		stop = at
		if _, err := tx.Commit(ctx); !errors.Is(err, ErrCrash) {
			t.Fatalf("commit: %v, want a crash", err)
		}
		stop = ""
	}
	forward := []string{"a", "b", "c"}
	for i := range scanPage { // more than are read at a time
		forward = append(forward, fmt.Sprint("row", i))
	}
	crash(stepCommitSecondary, "forward", forward...)
	crash(stepCommitTS, "back", "x", "y")
	db, err := Open(ctx, table, Options{Mode: TwoPhase})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.gc.queue.on.Store(true)
	// a's lock went with its commit; x's is resolved together with y's, or on its own.
	if n, err := db.ResolveAbandoned(ctx); err != nil || n < len(forward) {
		t.Fatalf("resolved %d locks, %v", n, err)
	}
	_, err = table.Scan(ctx, store.Range{Group: lockGroup}, func(c store.Cell) error {
		t.Errorf("a lock is left in row %q", c.Row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for row, want := range map[string]string{"a": "forward", "b": "forward", "c": "forward", "x": "", "y": ""} {
		if v, err := tx.Get(ctx, row, col); err != nil || string(v.Data) != want {
			t.Errorf("%s holds %q, %v; want %q", row, v.Data, err, want)
		}
	}
	if n := db.gc.queue.size(); n != 2 {
		t.Errorf("the collector is to visit %d cells, want the two that were rolled back", n)
	}
}

// TestOwnerIsFaster: a transaction that another process considers dead commits just before that
// process rolls its primary back. The other process then rolls the remaining cells forward.
func TestOwnerIsFaster(t *testing.T) {
	table := openMem(t, Groups("app"))
	defer closeTable(t, table)
	atCommit, roll, died := make(chan struct{}), make(chan struct{}), make(chan struct{})
	owner := open(t, table, Options{Mode: TwoPhase, Step: func(name string, _ Cell) error {
		switch name {
		case stepCommitPrimary:
			close(atCommit)
			<-roll
		case stepPrimaryCommitted:
			return ErrCrash
		}
		return nil
	}})
	defer owner.Close()
	go func() {
		defer close(died)
		if _, err := owner.Run(t.Context(), func(tx *Txn) error {
			tx.Set("primary", app("c"), []byte("new"))
			tx.Set("other", app("c"), []byte("new"))
			return nil
		}); !errors.Is(err, ErrCrash) {
			t.Errorf("the owner: %v", err)
		}
	}()
	<-atCommit
	rolls := 0
	db := open(t, table, Options{Mode: TwoPhase, resolver: func(name string, _ Cell) error {
		if name == stepResolvePrimary {
			rolls++
			close(roll)
			<-died
		}
		return nil
	}})
	defer db.Close()
	tx := mustBegin(t, db)
	defer tx.Rollback()
	for _, row := range []string{"other", "primary"} {
		if v, err := tx.Get(t.Context(), row, app("c")); err != nil || string(v.Data) != "new" {
			t.Errorf("%s holds %q, %v", row, v.Data, err)
		}
	}
	if rolls != 1 {
		t.Errorf("the primary was to be rolled back %d times", rolls)
	}
}
