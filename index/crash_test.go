package index

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// The crash test kills a child process while it writes, and checks the index.

const crashDirEnv = "INDEX_CRASH_TEST_DIR"

// crashBatch is the documents of one Apply call of the child, which must be all or
// nothing.
const crashBatch = 5

func crashDoc(batch, i int) *Document {
	u := page.URL(fmt.Sprintf("https://example.org/%d/%d", batch, i))
	return &Document{
		Cluster: key(string(u)), Seq: uint64(batch) + 1, URL: u, Title: "page", Language: "en",
		Text: strings.Repeat(fmt.Sprintf("batch%d words ", batch), 200),
	}
}

// crashChild writes batches for ever and prints which are durable.
func crashChild() error {
	ctx := context.Background()
	w, err := OpenWriter(ctx, os.Getenv(crashDirEnv), WriterOptions{})
	if err != nil {
		return err
	}
	from, err := strconv.Atoi(os.Getenv(crashDirEnv + "_FROM"))
	if err != nil {
		return err
	}
	fmt.Println("open")
	for batch := from; ; batch++ {
		var list []Change
		for i := range crashBatch {
			list = append(list, Upsert(crashDoc(batch, i)))
		}
		if err := w.Apply(ctx, list); err != nil {
			return err
		}
		fmt.Println(batch)
	}
}

func startCrashChild(t *testing.T, dir string, from int) *killtest.Child {
	t.Helper()
	return killtest.Start(t, killtest.Role(t, "crash", crashDirEnv+"="+dir, fmt.Sprint(crashDirEnv, "_FROM=", from)))
}

func TestKill(t *testing.T) {
	dir := t.TempDir()
	rng := testenv.Random(t)
	durable := -1 // highest batch acknowledged
	for range testenv.Size(2, 6, 50) {
		durable = max(durable, killChild(t, dir, durable+1, rng.IntN(testenv.Size(40, 150, 150))))
		r, err := OpenReader(dir) // with the log as the dead writer left it
		if err != nil {
			t.Fatal(err)
		}
		durable = checkCrashed(t, r, durable)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	w := openTestWriter(t, dir)
	apply(t, w, Upsert(crashDoc(durable+1, 0)))
}

// killChild runs a child from a batch on, kills it after it has acknowledged n
// batches and a random bit more, and gives the last batch it acknowledged.
func killChild(t *testing.T, dir string, from, n int) (last int) {
	t.Helper()
	c := startCrashChild(t, dir, from)
	last = -1
	seen := 0
	for line := range c.Lines() {
		if b, err := strconv.Atoi(line); err == nil {
			last = b
		}
		if seen++; seen == n+1 {
			c.Kill()
		}
	}
	if !c.Killed() {
		t.Fatalf("the child ended by itself: %s", c.Failed())
	}
	return last
}

// checkCrashed checks that all acknowledged batches are there, the one in flight
// whole or not at all, and gives the last batch that is there.
func checkCrashed(t *testing.T, r *Reader, durable int) int {
	t.Helper()
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, err := r.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	batches := n / crashBatch
	if n%crashBatch != 0 || batches != durable+1 && batches != durable+2 {
		t.Fatalf("%d documents after %d acknowledged batches of %d", n, durable+1, crashBatch)
	}
	for b := range batches {
		res, err := r.Search(t.Context(), fmt.Sprint("batch", b), search.Options{})
		if err != nil || res.Total != crashBatch {
			t.Fatalf("batch %d: total %d (%v)", b, res.Total, err)
		}
	}
	t.Logf("%d batches, the last acknowledged one is %d", batches, durable)
	return batches - 1
}

// TestReadWhileOtherProcessWrites reads in this process while a child writes.
func TestReadWhileOtherProcessWrites(t *testing.T) {
	dir := t.TempDir()
	c := startCrashChild(t, dir, 0)
	c.Until("open")
	r := openTestReader(t, dir)
	if _, err := OpenWriter(t.Context(), dir, WriterOptions{}); !isLocked(err) {
		t.Errorf("second writer: %v", err)
	}
	for range 60 {
		// What was acknowledged shows at once; a batch shows whole or not at all.
		batch := c.Until("")
		res, err := r.Search(t.Context(), "batch"+batch, search.Options{Unfold: true})
		if err != nil || res.Total != crashBatch || len(res.Hits) != crashBatch {
			t.Fatalf("batch %s: %+v %v", batch, res, err)
		}
		if n, err := r.Count(t.Context()); err != nil || n%crashBatch != 0 {
			t.Fatalf("count %d %v", n, err)
		}
	}
}
