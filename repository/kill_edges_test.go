package repository_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
)

// Kills at the edges of a process's life, where files come and go: the file that has just
// appeared identifies the moment.

// birth lists the files of a data directory about in the order in which Open
// makes them; some are gone again at once.
var birth = []string{
	"", "store", "store/FORMAT.tmp*", "store/FORMAT", "store/badger", "store/badger/LOCK", "store/badger/MANIFEST*",
	"store/badger/*.mem", "store/badger/*.vlog", "store/badger/DISCARD",
	"index", "index/writer.lock", "index/*.new", "index/*.sqlite", "index/*-wal",
}

// TestKilledWhileCreating kills the first Open of a directory. It leaves either nothing
// or a repository; the next Open continues with it.
func TestKilledWhileCreating(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)[:20]
	want := undisturbed(t, fetches)
	inTime := 0
	for i := range birth {
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run(strings.ReplaceAll(birth[i], "/", " "), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			inTime += killBirth(t, dir, birth[i:], 3)
			r := open(t, dir, repository.Options{})
			defer closeNow(t, r)
			load(t, r, 4, fetches)
			wantSound(t, r, want)
		})
	}
	t.Logf("%d children were killed while they opened", inTime)
	if inTime == 0 {
		t.Error("no child was killed in time")
	}
}

// killBirth kills children that open dir, up to n of them, each when the first of
// the files appears that no earlier one had made. It counts the kills in time.
func killBirth(t *testing.T, dir string, files []string, n int) (inTime int) {
	t.Helper()
	for _, file := range files {
		pattern := filepath.Join(dir, file)
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			continue
		}
		s := startChild(t, dir, "", txn.Auto).killWhen(pattern)
		if s.failed != "" {
			t.Fatalf("the child failed: %s", s.failed)
		}
		if s.killed && s.said[saysOpened] == 0 {
			inTime++
		}
		if n--; n == 0 {
			break
		}
	}
	return inTime
}

// TestKilledWhileClosing kills Close: it has nothing left to write that matters.
func TestKilledWhileClosing(t *testing.T) {
	want := ownDigest(t)
	for _, mode := range []txn.Mode{txn.OnePhase, txn.TwoPhase} {
		t.Run(modeName(mode), func(t *testing.T) {
			for _, file := range []string{"", "store/badger/*.sst"} {
				dir := filepath.Join(t.TempDir(), "data")
				c := startChild(t, dir, ownWebs, mode)
				var s story
				if file == "" {
					s = c.listen(moment{saysClosing, 1})
				} else {
					s = c.killWhen(filepath.Join(dir, file))
				}
				t.Logf("killed: %t, said %v", s.killed, s.said)
				if s = endBySelf(t, dir, "", mode); s.digest != want {
					t.Errorf("digest %s after a kill, want %s", s.digest, want)
				}
				r := open(t, dir, repository.Options{Commit: mode})
				wantSound(t, r, want)
				closeNow(t, r)
			}
		})
	}
}

// TestKilledWhileExportingAll deletes the index files and kills the processes
// that make them again.
func TestKilledWhileExportingAll(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	want := ownDigest(t)
	dir := t.TempDir()
	r := open(t, dir, repository.Options{})
	load(t, r, 4, fetches)
	closeNow(t, r)
	if err := os.RemoveAll(repository.IndexDir(dir)); err != nil {
		t.Fatal(err)
	}
	inTime := 0
	for _, file := range []string{"writer.lock", "*.new", "*.sqlite", "*-wal", "*-shm"} {
		if s := startChild(t, dir, "", txn.Auto).killWhen(filepath.Join(repository.IndexDir(dir), file)); s.failed != "" {
			t.Fatalf("the child failed: %s", s.failed)
		} else if s.killed && s.said[saysQuiet] == 0 {
			inTime++
		}
	}
	for n := range 3 {
		if s := startChild(t, dir, "", txn.Auto).listen(moment{saysRuns, 1 + n}); s.killed && s.said[saysQuiet] == 0 {
			inTime++
		}
	}
	t.Logf("%d children were killed while they exported", inTime)
	if inTime == 0 {
		t.Error("no child was killed in time")
	}
	r = open(t, dir, repository.Options{})
	defer closeNow(t, r)
	wantSound(t, r, want)
}
