package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
)

// TestCopy moves an index from a data directory to PostgreSQL, from there to Bigtable, and
// back to a directory. The first copy is killed in the middle and continued. The digest
// stays the same, and verify finds nothing. The index files of one store do not answer for another one.
func TestCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("starts databases")
	}
	t.Parallel()
	c, dir := recordedCrawl(t), t.TempDir()
	first, last, want := copyOf(t, c.data), filepath.Join(dir, "last"), c.digest
	pg, bt := pgtest.Shared(t).Schema(t), bigtabletest.URL(t)

	wantRefused(t, "there is no engine for mongo://", "--data", first, "copy", "--to", "mongo://x")
	killed := startChild(t, "copied=kill", "--data", first, "copy", "--to", pg)
	if status := killed.ends(); status != -1 {
		t.Fatalf("the copy was not killed: exit status %d: %s", status, killed.Said())
	}
	beside := filepath.Join(dir, "beside")
	wantRefused(t, "only a part of this store has been copied", "--data", beside, "--store", pg, "stats")
	wantRefused(t, "only a part of this store has been copied", "--data", beside, "--store", pg, "oracle", "--listen", "127.0.0.1:0")
	runIndexer(t, "--data", first, "copy", "--to", pg)
	wantRefused(t, "the destination of the copy is not empty", "--data", first, "copy", "--to", pg)

	if said := runIndexer(t, "--store", pg, "--format", "json", "copy", "--to", bt); !strings.Contains(said, `"cells"`) {
		t.Errorf("copy says %s", said)
	}
	runIndexer(t, "--store", bt, "copy", "--to", last)
	if got := digest(t, "--data", last); got != want {
		t.Errorf("digest %s, and before the copies %s", got, want)
	}
	runIndexer(t, "--data", last, "verify")
	if found := runIndexer(t, "--data", last, "query", "lighthouse OR apache"); strings.Contains(found, "Nothing was found") {
		t.Error("query finds nothing in the copy")
	}
	if found := runIndexer(t, "--data", first, "--store", pg, "query", "lighthouse OR apache"); strings.Contains(found, "Nothing was found") {
		t.Error("query finds nothing in the index files that the copied store has written")
	}
	for _, command := range [][]string{{"query", "apache"}, {"similar", "http://apache.example/"}} {
		wantRefused(t, "has a store of its own", append([]string{"--data", last, "--store", pg}, command...)...)
	}
}

// TestCopyRefuses: sources that are in use, and targets that hold something else.
func TestCopyRefuses(t *testing.T) {
	dir := t.TempDir()
	wantRefused(t, "name the target with --to", "--data", dir, "copy")
	wantRefused(t, "data directory is empty", "--data", filepath.Join(dir, "none"), "copy", "--to", filepath.Join(dir, "to"))
}

// TestCopyRefusesSourceInUse: while a deployment works on the source, nothing is copied.
func TestCopyRefusesSourceInUse(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	f := newFleet(t)
	to := filepath.Join(f.dir, "to")
	c := startChild(t, "", "--store", f.store, "copy", "--to", to)
	if status := c.ends(); status != statusInUse || !strings.Contains(c.Said(), "the source of the copy is in use") || strings.Contains(c.Said(), "data directory") {
		t.Errorf("exit status %d: %s", status, c.Said())
	}
}
