package cli

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/internal/pgtest"
)

// With group_access, a process on a shared store opens what is older in its data directory as it
// begins, not only when it ends: a server runs for months.
func TestGroupAccessOnASharedStore(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database")
	}
	data, store := filepath.Join(t.TempDir(), "data"), pgtest.Shared(t).Schema(t)
	runIndexer(t, append([]string{"--data", data, "--store", store, "replay"}, recordedCrawl(t).files...)...)
	t.Setenv("INDEXER_GROUP_ACCESS", "true")
	server, _ := serveChild(t, "", data, "--store", store)
	err := filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o060 != 0o060 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return ignoreMissing(err)
	})
	if err != nil {
		t.Error(err)
	}
	if err := server.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status := server.ends(); status != 0 {
		t.Errorf("exit status %d: %s", status, server.Said())
	}
}
