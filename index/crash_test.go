package index

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"indexer/page"
)

// The crash test kills a child process (this test binary, see TestMain) while it
// writes, then looks at what is left.

const crashDirEnv = "INDEX_CRASH_TEST_DIR"

// crashBatch is the documents of one Apply call of the child, which is to be all or
// nothing.
const crashBatch = 5

func crashDoc(batch, i int) *Document {
	u := page.URL(fmt.Sprintf("https://example.org/%d/%d", batch, i))
	return &Document{
		Cluster: key(string(u)), Seq: uint64(batch) + 1, URL: u, Title: "page", Language: "en",
		Text: strings.Repeat(fmt.Sprintf("batch%d words ", batch), 200),
	}
}

// crashChild writes batches for ever and says which are durable.
func crashChild(dir string) int {
	ctx := context.Background()
	fail := func(err error) int { fmt.Fprintln(os.Stderr, err); return 1 }
	w, err := OpenWriter(ctx, dir, WriterOptions{})
	if err != nil {
		return fail(err)
	}
	from, err := strconv.Atoi(os.Getenv(crashDirEnv + "_FROM"))
	if err != nil {
		return fail(err)
	}
	fmt.Println("open")
	for batch := from; ; batch++ {
		var list []Change
		for i := range crashBatch {
			list = append(list, Upsert(crashDoc(batch, i)))
		}
		if err := w.Apply(ctx, list); err != nil {
			return fail(err)
		}
		fmt.Println(batch)
	}
}

func TestKill(t *testing.T) {
	dir := t.TempDir()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	durable := -1 // highest batch acknowledged
	for range 6 {
		durable = max(durable, killChild(t, dir, durable+1, rng.IntN(150)))
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
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDirEnv+"="+dir, crashDirEnv+"_FROM="+strconv.Itoa(from))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last = -1
	lines := bufio.NewScanner(out)
	for seen := 0; lines.Scan(); seen++ {
		if b, err := strconv.Atoi(lines.Text()); err == nil {
			last = b
		}
		if seen == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Log(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("child ended by itself: %v", err)
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
		res, err := r.Search(t.Context(), fmt.Sprint("batch", b), Options{})
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
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDirEnv+"="+dir, crashDirEnv+"_FROM=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	lines := bufio.NewScanner(out)
	lines.Scan() // "open"
	r := openTestReader(t, dir)
	if _, err := OpenWriter(t.Context(), dir, WriterOptions{}); !isLocked(err) {
		t.Errorf("second writer: %v", err)
	}
	for range 60 {
		if !lines.Scan() {
			t.Fatal("child ended")
		}
		// What was acknowledged shows at once; a batch shows whole or not at all.
		batch := lines.Text()
		res, err := r.Search(t.Context(), "batch"+batch, Options{})
		if err != nil || res.Total != crashBatch || len(res.Hits) != crashBatch {
			t.Fatalf("batch %s: %+v %v", batch, res, err)
		}
		if n, err := r.Count(t.Context()); err != nil || n%crashBatch != 0 {
			t.Fatalf("count %d %v", n, err)
		}
	}
}
