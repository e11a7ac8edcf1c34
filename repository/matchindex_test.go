package repository_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/repository"
)

var ownFilled fixture

// filled makes a closed repository that holds the project's own webs.
func filled(t *testing.T) (dir, digest string) {
	t.Helper()
	return ownFilled.copy(t, func(dir string) (digest string) {
		r := open(t, dir, repository.Options{})
		load(t, r, 4, mustReadWeb(t, ownWebs))
		digest = digestOf(t, r)
		closeNow(t, r)
		return digest
	})
}

// TestIndexFilesDeleted: deleted index files are made again, each time, without loading
// any fetch.
func TestIndexFilesDeleted(t *testing.T) {
	dir, want := filled(t)
	for _, lost := range []string{"index", "index/shard-000.sqlite", "index"} {
		if err := os.RemoveAll(filepath.Join(dir, lost)); err != nil {
			t.Fatal(err)
		}
		r := open(t, dir, repository.Options{})
		wantSound(t, r, want)
		for _, o := range r.Live().Observers {
			if o.Observer != "index" && o.Runs > 0 {
				t.Errorf("without %s, observer %s ran %d times: nothing but the export was to be done", lost, o.Observer, o.Runs)
			}
		}
		closeNow(t, r)
	}
}

// TestIndexFilesKept: an Open with nothing to do does nothing.
func TestIndexFilesKept(t *testing.T) {
	dir, want := filled(t)
	r := open(t, dir, repository.Options{})
	wantSound(t, r, want)
	if n := runs(r); n != 0 {
		t.Errorf("%d runs of observers after opening a repository that is complete", n)
	}
	closeNow(t, r)
}

// TestIndexFilesOfAnother: index files with the documents of another repository
// are not touched, and the error says what to do. The store itself is sound.
func TestIndexFilesOfAnother(t *testing.T) {
	ctx := context.Background()
	theirs := t.TempDir()
	r := open(t, theirs, repository.Options{})
	load(t, r, 1, versions(1))
	closeNow(t, r)
	stranger := readFiles(t, repository.IndexDir(theirs))

	ours, want := filled(t)
	swapIndex(t, ours, stranger)
	for range 2 {
		_, err := repository.Open(ctx, ours, repository.Options{})
		if !errors.Is(err, repository.ErrOtherIndex) || !strings.Contains(err.Error(), repository.IndexDir(ours)) {
			t.Fatalf("Open with the index files of another repository: %v, want ErrOtherIndex and the directory", err)
		}
		if !sameIndex(t, ours, theirs) {
			t.Error("the other repository's index files were changed")
		}
	}

	if err := os.RemoveAll(repository.IndexDir(ours)); err != nil { // what the error says
		t.Fatal(err)
	}
	r = open(t, ours, repository.Options{})
	wantSound(t, r, want)
	closeNow(t, r)
}

// TestStoreDeleted: without the store the index files may be all there is.
func TestStoreDeleted(t *testing.T) {
	dir, _ := filled(t)
	copied := t.TempDir()
	swapIndex(t, copied, readFiles(t, repository.IndexDir(dir)))
	if err := os.RemoveAll(repository.StoreDir(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := repository.Open(context.Background(), dir, repository.Options{}); !errors.Is(err, repository.ErrOtherIndex) {
		t.Fatalf("Open without the store: %v, want ErrOtherIndex", err)
	}
	if !sameIndex(t, dir, copied) {
		t.Error("the index files were changed")
	}
}

// TestEmptyIndexFiles: index files that hold nothing, as a crash right after
// their creation leaves them, count as ours.
func TestEmptyIndexFiles(t *testing.T) {
	dir, want := filled(t)
	empty := t.TempDir()
	closeNow(t, open(t, empty, repository.Options{}))
	swapIndex(t, dir, readFiles(t, repository.IndexDir(empty)))
	r := open(t, dir, repository.Options{})
	defer closeNow(t, r)
	wantSound(t, r, want)
}

// readFiles reads a directory without subdirectories.
func readFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// swapIndex puts other index files into a data directory.
func swapIndex(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	into := repository.IndexDir(dir)
	err := errors.Join(os.RemoveAll(into), os.MkdirAll(into, 0o755))
	for name, data := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(into, name), data, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sameIndex compares the documents and the identity of the index files of two
// data directories.
func sameIndex(t *testing.T, a, b string) bool {
	t.Helper()
	idA, docsA := contents(t, a)
	idB, docsB := contents(t, b)
	return idA == idB && docsA == docsB
}

func contents(t *testing.T, dir string) (id, docs string) {
	t.Helper()
	r, err := index.OpenUnchecked(repository.IndexDir(dir)) // also files that are not those of the data directory
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Check(context.Background()); err != nil {
		t.Error(err)
	}
	var all strings.Builder
	err = r.Documents(context.Background(), func(d index.Document) error {
		all.WriteString(string(d.URL) + " " + d.Title + " " + d.Text + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID(), all.String()
}
