package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDeployment loads a web through a process that only loads, while three workers run the
// observers and one of them is killed and started again: the one that keeps the index files
// and the ranks, in the middle of its work. The digest is that of one process with a data
// directory, and verify finds no difference, with the index files of the worker that keeps
// them. Then all other commands run on the deployment.
func TestDeployment(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	t.Parallel()
	c := recordedCrawl(t)
	f := newFleet(t)
	workers := f.workers()
	l := f.load(c.files...)
	f.begun(l)
	workers[0].Kill()
	workers[0].Wait()
	workers[0] = f.worker("one")
	f.finish(l, workers...)
	if said := l.Said(); !strings.Contains(said, "where the index files are") {
		t.Errorf("the loader suggests a search in its own directory:\n%s", said)
	}
	wantRefused(t, "the worker that holds the lease index keeps them", f.args("loader", "query", "apache")...)
	holder := f.wantSame(c.digest, "one", "two", "three")
	if said := runIndexer(t, f.args("reader", "gc")...); strings.Contains(said, "on the disk") {
		t.Errorf("gc tells a size that the database does not: %s", said)
	}
	if found := runIndexer(t, "--data", filepath.Join(f.dir, holder), "query", "lighthouse OR apache"); strings.Contains(found, "Nothing was found") {
		t.Error("query finds nothing")
	}
	server := startChild(t, "", f.args(holder, "serve", "--listen", "127.0.0.1:0")...)
	server.Until("serving on ")
	stopChild(t, server)
	for _, data := range []string{"reader", holder} { // on another machine, and where the files are
		if said := runIndexer(t, f.args(data, "reindex")...); !strings.Contains(said, "The index was rebuilt with ") {
			t.Errorf("reindex: %s", said)
		}
	}
	if said := runIndexer(t, f.args("reader", "--format", "json", "rank", "--full")...); !strings.Contains(said, `"corrected":`) {
		t.Errorf("rank --full: %s", said)
	}
	runIndexer(t, "--data", filepath.Join(f.dir, holder), "query", "lighthouse OR apache")
	wantRefused(t, "there is no crawl in ", f.args("reader", "crawl")...)
	runIndexer(t, f.args("reader", "stats")...)
	runIndexer(t, f.args("reader", "check")...)
	for _, w := range workers {
		stopChild(t, w)
		if !strings.Contains(w.Said(), "stopping: what is in progress is completed; interrupt again to stop at once\n") {
			t.Errorf("an interrupted worker says %s", w.Said())
		}
	}
	// Without workers, the process takes the leases itself.
	runIndexer(t, f.args("reader", "reindex")...)
	runIndexer(t, f.args("reader", "rank", "--full")...)
	if found := runIndexer(t, "--data", filepath.Join(f.dir, "reader"), "query", "lighthouse OR apache"); strings.Contains(found, "Nothing was found") {
		t.Error("query finds nothing in the files of the reader")
	}
	f.stop()
}

// wantRefused: a command says that it cannot do what it was asked.
func wantRefused(t *testing.T, why string, args ...string) {
	t.Helper()
	var said bytes.Buffer
	if status := Main(context.Background(), args, strings.NewReader(""), &said, &said); status != statusUsage || !strings.Contains(said.String(), why) {
		t.Errorf("indexer %s: exit status %d: %s", strings.Join(args, " "), status, said.String())
	}
}

// TestDeployments loads the same web into every kind of deployment: on each engine, with
// liveness tokens in the table and in etcd, in the open and encrypted, with index files and
// with OpenSearch. TestCutOffWorker has the emulator of Bigtable and etcd in every run.
func TestDeployments(t *testing.T) {
	if testing.Short() {
		t.Skip("starts databases and several processes")
	}
	c := recordedCrawl(t)
	for _, s := range []setup{
		{name: "bigtable", bigtable: true, rare: true},
		{name: "postgres with OpenSearch", opensearch: true, rare: true},
		{name: "postgres with TLS and a token", secure: true},
		{name: "postgres with etcd", etcd: true, oracles: 2, rare: true},
	} {
		t.Run(s.name, func(t *testing.T) {
			f := newFleet(t, s)
			workers := f.workers()
			began := time.Now()
			f.finish(f.load(c.files...), workers...)
			t.Logf("loaded in %v", time.Since(began))
			f.wantSame(c.digest, "one", "two", "three")
			if s.opensearch {
				f.wantServerIndex(c)
			}
			f.stop(workers...)
		})
	}
}
