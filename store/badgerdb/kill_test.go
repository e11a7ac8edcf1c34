package badgerdb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
)

var killGroups = []store.GroupSpec{{Name: "data"}, {Name: "last", Latest: true}, {Name: "lock", Latest: true, Resident: true}}

const (
	killDir   = "BADGERDB_TEST_CHILD_DIR"
	killFirst = "BADGERDB_TEST_CHILD_FIRST"
	killSync  = "BADGERDB_TEST_CHILD_SYNC"
	// killLarge makes values large and memtables small, and reclaims space during the
	// writes, so that logs fill up and are written out all the time.
	killLarge = "BADGERDB_TEST_CHILD_LARGE"
	killRows  = 6
)

// TestKilled kills a process that writes batches, several times, and checks the table:
// it has every acknowledged batch, and no part of a batch. A batch n puts a cell at
// timestamp n into killRows rows.
func TestKilled(t *testing.T) {
	kills := 12
	if testing.Short() {
		kills = 5
	}
	r := testenv.Random(t)
	killAll(t, kills, func(kill int) (after int, env []string) {
		return 1 + r.IntN(400), []string{killSync + "=" + strconv.FormatBool(kill%2 == 1)}
	})
}

// TestKilledAmidLogs kills a process whose logs fill up all the time: every 19
// acknowledgements, and whenever space is reclaimed. Whatever Badger was doing with its
// logs at that moment, the table opens, and no batch is lost.
func TestKilledAmidLogs(t *testing.T) {
	kills, most := 3, 60
	switch {
	case testenv.Long():
		kills, most = 40, 200
	case testing.Short():
		t.Skip("skipped with -short: a minute under the race detector; TestKilled kills smaller writes")
	}
	r := testenv.Random(t)
	killAll(t, kills, func(int) (after int, env []string) { return 1 + r.IntN(most), []string{killLarge + "=1"} })
}

// killAll starts and kills processes on one table. how says after how many acknowledgements,
// and in which environment.
func killAll(t *testing.T, kills int, how func(kill int) (after int, env []string)) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "table")
	acked := map[uint64]bool{}
	next := uint64(1)
	for kill := range kills {
		after, env := how(kill)
		for _, n := range runAndKill(t, dir, next, after, env) {
			acked[n] = true
		}
		next = checkSurvivors(t, dir, acked) + 1
	}
	t.Logf("%d kills, %d batches acknowledged, none lost, none halved", kills, len(acked))
}

// runAndKill starts a child, kills it after some acknowledgements, and returns all
// that it printed.
func runAndKill(t *testing.T, dir string, first uint64, after int, env []string) (acked []uint64) {
	t.Helper()
	c := killtest.Start(t, killtest.Role(t, "write", append(env, killDir+"="+dir, fmt.Sprint(killFirst, "=", first))...))
	for line := range c.Lines() {
		n, err := strconv.ParseUint(line, 10, 64)
		if err != nil {
			t.Fatalf("the child says %q", line)
		}
		acked = append(acked, n)
		if len(acked) == 1 {
			wantInUse(t, dir)
		}
		if len(acked) == after {
			c.Kill()
		}
	}
	if !c.Killed() {
		t.Errorf("the child ended by itself: %s", c.Failed())
	}
	return acked
}

func wantInUse(t *testing.T, dir string) {
	t.Helper()
	if _, err := badgerdb.Open(dir, killGroups, badgerdb.Options{}); !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "process") {
		t.Errorf("Open while the child has it: %v, want ErrInUse", err)
	}
}

// checkSurvivors returns the greatest batch there is.
func checkSurvivors(t *testing.T, dir string, acked map[uint64]bool) (last uint64) {
	t.Helper()
	db := open(t, dir, killGroups, badgerdb.Options{})
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	rows := map[uint64]int{}
	_, err := db.Scan(context.Background(), store.Range{Group: "data"}, func(c store.Cell) error {
		rows[c.TS]++
		last = max(last, c.TS)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for n, found := range rows {
		if found != killRows {
			t.Errorf("batch %d has %d of %d rows", n, found, killRows)
		}
	}
	for n := range acked {
		if rows[n] == 0 {
			t.Errorf("batch %d was acknowledged and is lost", n)
		}
	}
	// The Latest group followed, and the locks that the batches took were released.
	_, err = db.Scan(context.Background(), store.Range{Group: "last"}, func(c store.Cell) error {
		if c.TS != last {
			return fmt.Errorf("row %q of the Latest group is at %d, the last batch was %d", c.Row, c.TS, last)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	_, err = db.Scan(context.Background(), store.Range{Group: "lock"}, func(c store.Cell) error {
		return fmt.Errorf("lock of batch %d left in row %q", c.TS, c.Row)
	})
	if err != nil {
		t.Error(err)
	}
	return last
}

// runChild is the process that is killed.
func runChild() error {
	first, err := strconv.ParseUint(os.Getenv(killFirst), 10, 64)
	if err != nil {
		return err
	}
	large := os.Getenv(killLarge) != ""
	options := badgerdb.Options{SyncWrites: os.Getenv(killSync) == "true"}
	if large {
		options.MemoryBytes = 1 // the smallest memtables that there are
	}
	db, err := badgerdb.Open(os.Getenv(killDir), killGroups, options)
	if err != nil {
		return err
	}
	var next atomic.Uint64
	next.Store(first - 1)
	db.UseClock(childClock{&next})
	var work errgroup.Group
	value := "v"
	if large {
		value = strings.Repeat("large", 30_000)
		work.Go(func() error {
			for {
				if err := db.Reclaim(context.Background()); err != nil {
					return err
				}
			}
		})
	}
	for range 4 {
		work.Go(func() error {
			for {
				ts, res, err := db.Commit(context.Background(), killBatch(value))
				if err != nil || res.Outcome != store.Applied {
					return fmt.Errorf("commit: %v, %w", res.Outcome, err)
				}
				fmt.Println(ts)
			}
		})
	}
	return work.Wait()
}

func killBatch(value string) (rows []store.RowMutation) {
	for i := range killRows {
		rows = append(rows, store.RowMutation{Row: fmt.Append(nil, "row", i), Mutations: []store.Mutation{
			{Group: "data", Column: []byte("c"), TS: store.AtCommit, Value: []byte(value)},
			{Group: "last", Column: []byte("c"), TS: store.AtCommit, Value: []byte("v")},
			{Group: "lock", Column: []byte("c"), TS: store.AtCommit, Value: []byte("v")},
			{Op: store.DeleteUpTo, Group: "lock", Column: []byte("c"), TS: store.AtCommit},
		}})
	}
	return rows
}

// childClock is called from one goroutine only.
type childClock struct{ last *atomic.Uint64 }

func (c childClock) Reserve(n int) (uint64, error) {
	return c.last.Add(uint64(n)) - uint64(n) + 1, nil
}

func (c childClock) Visible() {}
