package web

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// writeIndex makes an index with a document that says word.
func writeIndex(t *testing.T, dir, word string) {
	t.Helper()
	w, err := index.OpenWriter(t.Context(), dir, index.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	u := page.URL("https://site.example/" + word)
	if err := w.Apply(t.Context(), []index.Change{index.Upsert(&index.Document{Cluster: page.ContentKey(sha256.Sum256([]byte(word))), Seq: 1, URL: u, Title: word, Text: word})}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// pointTo makes dir another directory, in one step: there is no moment without files.
func pointTo(t *testing.T, dir, to string) {
	t.Helper()
	if err := os.Symlink(to, dir+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+".new", dir); err != nil {
		t.Fatal(err)
	}
}

// total is how many documents have a word.
func total(t *testing.T, f *IndexFiles, word string) int {
	t.Helper()
	res, err := f.Search(t.Context(), word, search.Options{})
	if err != nil {
		t.Error(err)
		return -1
	}
	return res.Total
}

// TestIndexFilesReplaced: files that are deleted and made again are searched from then on, and no search
// that is under way fails.
func TestIndexFilesReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	writeIndex(t, dir+"-before", "before")
	pointTo(t, dir, dir+"-before")
	log, logged := observer.New(zap.WarnLevel)
	files, err := OpenIndexFiles(func() (*index.Reader, error) { return index.OpenReader(dir) }, zap.New(log))
	if err != nil {
		t.Fatal(err)
	}
	if n := total(t, files, "before"); n != 1 {
		t.Fatalf("%d documents before", n)
	}
	current := func() *openedIndex {
		files.mu.Lock()
		defer files.mu.Unlock()
		return files.current
	}
	ctx, cancel := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for range 3 {
		busy.Go(func() {
			for ctx.Err() == nil {
				if n, err := files.Count(t.Context()); err != nil || n != 1 {
					t.Errorf("%d documents, %v", n, err)
					return
				}
			}
		})
	}
	for n := range 5 {
		word := fmt.Sprintf("after%d", n)
		other := dir + "-" + word
		writeIndex(t, other, word)
		old := current()
		pointTo(t, dir, other)
		if got := total(t, files, word); got != 1 {
			t.Errorf("%d documents after files were replaced", got)
		}
		if current() == old {
			t.Error("the old files are still open")
		}
	}
	cancel()
	busy.Wait()
	if err := files.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte("no index, but longer than the header of a database would be, so that it is read as one and refused"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "shard-000.sqlite")); err != nil {
		t.Fatal(err)
	}
	for range 3 { // the old ones, and it is said once
		if n := total(t, files, "after4"); n != 1 {
			t.Errorf("%d documents beside files that are none", n)
		}
	}
	if n := logged.Len(); n != 1 {
		t.Errorf("%d warnings: %v", n, logged.All())
	}
	if err := files.Close(); err != nil {
		t.Error(err)
	}
}
