package stresso

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// The variables of the child.
const (
	childDir    = "STRESSO_CHILD_DIR"
	childMode   = "STRESSO_CHILD_MODE"
	childSeed   = "STRESSO_CHILD_SEED"
	killLevels  = 4
	killNumbers = 3000
)

// TestKilled kills a process that loads and counts, with SIGKILL and at a random
// moment, time and again. After each kill the trie adds up, and no number that was
// acknowledged is missing. Then observers without a loader finish what the dead left,
// from nothing but what is in the table: the root has counted all leaves. (A loader
// would wake again the observers that a lost notification lets sleep.)
func TestKilled(t *testing.T) {
	kills := 6
	switch {
	case testenv.Long():
		kills = 100
	case testing.Short():
		kills = 2
	}
	for _, path := range paths {
		t.Run(path.name, func(t *testing.T) {
			rng := testenv.Random(t)
			dir := filepath.Join(t.TempDir(), "table")
			acked := make(map[uint64]bool)
			for range kills {
				loadAndKill(t, dir, path.mode, rng.Uint64(), 1+rng.IntN(killNumbers/8), acked)
				survivors(t, dir, path.mode, acked)
			}
			t.Logf("%d kills, %d distinct numbers acknowledged", kills, len(acked))
		})
	}
}

// loadAndKill runs a process on the table, and kills it after some
// acknowledgements.
func loadAndKill(t *testing.T, dir string, mode txn.Mode, seed uint64, after int, acked map[uint64]bool) {
	t.Helper()
	cmd := killtest.Role(t, "load", childDir+"="+dir, fmt.Sprint(childMode, "=", int(mode)), fmt.Sprint(childSeed, "=", seed))
	in, err := cmd.StdinPipe() // open until the end: a child that is done before the kill waits for it
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	c := killtest.Start(t, cmd)
	n := 0
	for line := range c.Lines() {
		var x uint64
		if _, err := fmt.Sscanf(line, "acked %d", &x); err != nil {
			t.Errorf("the child says %q", line)
			continue
		}
		acked[x] = true
		if n++; n == after {
			c.Kill()
		}
	}
	if !c.Killed() {
		t.Fatalf("the child ended by itself: %s", c.Failed())
	}
}

// survivors opens the table after a kill, and lets observers finish the work.
func survivors(t *testing.T, dir string, mode txn.Mode, acked map[uint64]bool) {
	t.Helper()
	ctx := context.Background()
	table, err := badgerdb.Open(dir, groups, badgerdb.Options{MinFreeBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	}()
	stranger, err := txn.Open(ctx, table, txn.Options{Mode: mode}) // without observers: it only reads
	if err != nil {
		t.Fatal(err)
	}
	tx, err := stranger.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Trie{killLevels}.Check(ctx, tx)
	tx.Rollback()
	if err := errors.Join(err, stranger.Close()); err != nil {
		t.Errorf("after a kill: %v", err)
	}
	for n := range acked {
		if !c.Leaves[n] {
			t.Errorf("%d was acknowledged and is lost", n)
		}
	}
	a, err := start(ctx, table, Trie{killLevels}, mode, 8)
	if err != nil {
		t.Fatal(err)
	}
	done, err := a.pipeline.Quiesce(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.want(t, done, c.Leaves)
	a.stop(t)
}

// runChild is the process that is killed.
func runChild() error {
	mode, err := strconv.Atoi(os.Getenv(childMode))
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(os.Getenv(childSeed), 10, 64)
	if err != nil {
		return err
	}
	ctx := context.Background()
	table, err := badgerdb.Open(os.Getenv(childDir), groups, badgerdb.Options{MinFreeBytes: -1})
	if err != nil {
		return err
	}
	a, err := start(ctx, table, Trie{killLevels}, txn.Mode(mode), 8)
	if err != nil {
		return err
	}
	numbers, _ := draw(rand.New(rand.NewPCG(seed, 2)), killNumbers, Trie{killLevels}.Limit()/8)
	if err := a.load(ctx, 4, numbers, func(n uint64) { fmt.Println("acked", n) }); err != nil {
		return err
	}
	if _, err := a.pipeline.Quiesce(ctx); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // all is done, and the kill is on its way
	return errors.New("not killed")
}
