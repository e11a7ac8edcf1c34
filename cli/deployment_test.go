package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
)

// fleet is a deployment of real processes: an oracle, and workers, on one database.
type fleet struct {
	t      *testing.T
	dir    string
	shared []string // the flags of every process
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	store := pgtest.Shared(t).Schema(t)
	f := &fleet{t: t, dir: t.TempDir(), shared: []string{"--store", store}}
	oracle := startChild(t, "", f.args("oracle", "oracle", "--listen", "127.0.0.1:0")...)
	_, address, _ := strings.Cut(oracle.Until("serving timestamps at "), "serving timestamps at ")
	address, _, _ = strings.Cut(address, ",")
	f.shared = append(f.shared, "--oracle", address)
	t.Cleanup(func() { stopChild(t, oracle) })
	return f
}

// args are the arguments of a process with a data directory of its own.
func (f *fleet) args(data string, more ...string) []string {
	return append(append([]string{"--data", filepath.Join(f.dir, data), "--log-level", "info"}, f.shared...), more...)
}

func (f *fleet) worker(data string) *child {
	f.t.Helper()
	c := startChild(f.t, "", f.args(data, "worker", "--workers", "2")...)
	c.Until("working; interrupt to stop")
	return c
}

// stopChild interrupts a process and wants it to end in order.
func stopChild(t *testing.T, c *child) {
	t.Helper()
	c.Signal(syscall.SIGINT)
	if status := c.ends(); status != 0 {
		t.Errorf("exit status %d: %s", status, c.Said())
	}
}

// runIndexer runs a command to its end and returns what it printed.
func runIndexer(t *testing.T, args ...string) string {
	t.Helper()
	var out, said bytes.Buffer
	status := Main(context.Background(), args, strings.NewReader(""), &out, &said)
	if status != 0 {
		t.Fatalf("indexer %s: exit status %d: %s", strings.Join(args, " "), status, said.String())
	}
	return out.String() + said.String()
}

// wantRefused: a command says that it cannot do what it was asked.
func wantRefused(t *testing.T, why string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	if status := Main(context.Background(), args, strings.NewReader(""), &said, &said); status != statusUsage || !strings.Contains(said.String(), why) {
		t.Errorf("indexer %s: exit status %d: %s", strings.Join(args, " "), status, said.String())
	}
}

// digest is that of an export of all documents.
func digest(t *testing.T, args ...string) string {
	t.Helper()
	_, line, found := strings.Cut(runIndexer(t, append(args, "export")...), "\ndigest ")
	if !found {
		t.Fatal("export has printed no digest")
	}
	return strings.TrimSpace(line)
}

// recordedWeb returns WARC files: the project's own webs, or a recorded crawl of a real site
// with INDEXER_LONG=1 if there is one.
func recordedWeb(t *testing.T, dir string) []string {
	t.Helper()
	if testenv.Long() {
		file := "../../shared/corpus/t0/community.apache.org.warc.gz"
		_, err := os.Stat(file)
		if err == nil {
			return []string{file}
		}
		if !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	sites, err := filepath.Glob("../testdata/sites/*.txt")
	if err != nil || len(sites) == 0 {
		t.Fatalf("no sites: %v", err)
	}
	file := filepath.Join(dir, "web.warc.gz")
	runIndexer(t, append([]string{"pack", "-o", file}, sites...)...)
	return []string{file}
}

// TestDeployment loads a web through a process that only loads, while three workers run the
// observers and one of them is killed and started again: the one that keeps the index files
// and the ranks, in the middle of its work. The digest is that of one process with a data
// directory, and verify finds nothing, with the index files of whoever keeps them.
func TestDeployment(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	f := newFleet(t)
	files := recordedWeb(t, f.dir)
	embedded := []string{"--data", filepath.Join(f.dir, "embedded")}
	runIndexer(t, append(append(embedded, "replay"), files...)...)
	want := digest(t, embedded...)

	one := f.worker("one") // takes both leases
	one.Until(`this process now holds a lease	{"lease": "index"}`)
	two, three := f.worker("two"), f.worker("three")
	load := startChild(t, "", f.args("loader", append([]string{"replay", "--workers", "2"}, files...)...)...)
	if !testenv.Long() {
		_ = load.Until("") // it has begun
	}
	one.Kill()
	one.Wait()
	one = f.worker("one")
	if status := load.ends(); status != 0 {
		t.Errorf("the loader: exit status %d: %s", status, load.Said())
	}
	if got := digest(t, f.args("reader")...); got != want {
		t.Errorf("digest %s, and that of one process %s", got, want)
	}
	runIndexer(t, f.args("reader", "gc")...)
	holder := ""
	for _, data := range []string{"one", "two", "three"} {
		if strings.Contains(runIndexer(t, f.args(data, "--format", "json", "verify")...), `"index_files"`) {
			holder = data
		}
	}
	if holder == "" {
		t.Fatal("verify has not found the index files")
	}
	if found := runIndexer(t, "--data", filepath.Join(f.dir, holder), "query", "lighthouse OR apache"); strings.Contains(found, "Nothing was found") {
		t.Error("query finds nothing")
	}
	server := startChild(t, "", f.args(holder, "serve", "--listen", "127.0.0.1:0")...)
	server.Until("serving on ")
	stopChild(t, server)
	for _, data := range []string{"reader", holder} { // on another machine, and where the files are
		if said := runIndexer(t, f.args(data, "reindex")...); !strings.Contains(said, "The index files were rebuilt with ") {
			t.Errorf("reindex: %s", said)
		}
	}
	if said := runIndexer(t, f.args("reader", "--format", "json", "rank", "--full")...); !strings.Contains(said, `"corrected":`) {
		t.Errorf("rank --full: %s", said)
	}
	runIndexer(t, "--data", filepath.Join(f.dir, holder), "query", "lighthouse OR apache")
	wantRefused(t, "cannot be crawled into yet", f.args("reader", "crawl", "https://one.example/")...)
	runIndexer(t, f.args("reader", "wait")...)
	runIndexer(t, f.args("reader", "stats")...)
	runIndexer(t, f.args("reader", "check")...)
	for _, w := range []*child{one, two, three} {
		stopChild(t, w)
	}
	// Without workers, the process takes the leases itself.
	runIndexer(t, f.args("reader", "reindex")...)
	runIndexer(t, f.args("reader", "rank", "--full")...)
	if found := runIndexer(t, "--data", filepath.Join(f.dir, "reader"), "query", "lighthouse OR apache"); strings.Contains(found, "Nothing was found") {
		t.Error("query finds nothing in the files of the reader")
	}
}
