package repository_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
)

// reading queries the index files during a whole test. Whatever happens to the files, readers get
// an answer.
func reading(t *testing.T, dir string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var busy sync.WaitGroup
	asked := make([]int, 3)
	for i := range asked {
		busy.Go(func() {
			for ctx.Err() == nil {
				r, err := index.OpenReader(repository.IndexDir(dir))
				if err != nil {
					t.Errorf("open a reader: %v", err)
					return
				}
				for range 10 {
					res, err := r.Search(context.Background(), "the", search.Options{})
					if err != nil && r.Replaced() {
						break // as the search page does (web/indexfiles.go)
					}
					if err != nil || i == 0 && res.Total == 0 {
						t.Errorf("search: %v, %v", res, err)
					}
					asked[i]++
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	return func() {
		cancel()
		busy.Wait()
		t.Logf("asked %v times", asked)
	}
}

// TestReindexOnline rebuilds the index files again and again, while fetches are loaded and readers ask.
func TestReindexOnline(t *testing.T) {
	rnd := testenv.Random(t)
	fetches := mustReadWeb(t, ownWebs)
	want := ownDigest(t)
	rnd.Shuffle(len(fetches), func(i, j int) { fetches[i], fetches[j] = fetches[j], fetches[i] })
	dir := filepath.Join(t.TempDir(), "data")
	r := open(t, dir, repository.Options{})
	load(t, r, 4, fetches[:20])
	stop := reading(t, dir)
	loaded := make(chan error, 1)
	go func() {
		_, err := loadAll(context.Background(), r, 4, fetches[20:], nil)
		loaded <- err
	}()
	rebuilds := 0
	for done := false; !done; rebuilds++ {
		select {
		case err := <-loaded:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		default:
		}
		if _, err := r.Reindex(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rebuilds", rebuilds)
	if err := r.Quiesce(context.Background()); err != nil {
		t.Fatal(err)
	}
	stop()
	wantSound(t, r, want)
	before, err := filesSay(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.Reindex(context.Background(), nil)
	if err != nil || res.Documents == 0 {
		t.Fatal(res, err)
	}
	if after, err := filesSay(t, dir); err != nil || after != before {
		t.Errorf("a rebuild at rest made other files, %v", err)
	}
	checkIndex(t, dir)
	closeNow(t, r)
	r, said := openLogged(t, dir)
	if len(said) > 0 || runs(r) > 0 {
		t.Errorf("after %d rebuilds it was said: %q, and %d observers ran", rebuilds, said, runs(r))
	}
	wantSound(t, r, want)
	closeNow(t, r)
	if files, err := filepath.Glob(filepath.Join(repository.IndexDir(dir), "shard*")); err != nil || len(files) != 1 {
		t.Errorf("left are %v, %v", files, err)
	}
}

func checkIndex(t *testing.T, dir string) {
	t.Helper()
	r, err := index.OpenReader(repository.IndexDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestReindexKilled kills a process that does nothing but rebuild, at any moment. The index files are
// whole each time, and a rebuild without a kill comes to the same.
func TestReindexKilled(t *testing.T) {
	rnd := testenv.Random(t)
	dir, want := filled(t)
	says, err := filesSay(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	for range testenv.Size(3, 4, 25) {
		s := startChild(t, dir, "", txn.Auto, with(childReindex+"=100")).listen(moment{saysReindex, 1 + rnd.IntN(30)})
		if !s.killed {
			t.Fatalf("the child was not killed: %v %s", s.said, s.failed)
		}
		if got, err := filesSay(t, dir); err != nil || got != says {
			t.Fatalf("after a kill a reader finds something else, %v", err)
		}
	}
	r, said := openLogged(t, dir)
	if len(said) > 0 {
		t.Errorf("it was said: %q", said)
	}
	wantSound(t, r, want)
	closeNow(t, r)
	if files, err := filepath.Glob(filepath.Join(repository.IndexDir(dir), "shard*")); err != nil || len(files) != 1 {
		t.Errorf("left are %v, %v", files, err)
	}
}

// TestReindexOffline rebuilds what cannot be opened, and sets aside what is not ours.
func TestReindexOffline(t *testing.T) {
	whole, want := filled(t)
	strange := filepath.Join(t.TempDir(), "data")
	r := open(t, strange, repository.Options{})
	load(t, r, 1, versions(1))
	closeNow(t, r)
	for name, c := range map[string]struct {
		make  func(t *testing.T, dir string) error
		aside bool
	}{
		"missing": {func(_ *testing.T, dir string) error { return os.RemoveAll(repository.IndexDir(dir)) }, false},
		"sound":   {func(*testing.T, string) error { return nil }, false},
		"no index": {func(_ *testing.T, dir string) error {
			return os.WriteFile(repository.IndexDir(dir)+"/shard-000.sqlite", []byte("a letter to somebody"), 0o600)
		}, true},
		"empty": {func(_ *testing.T, dir string) error {
			return os.WriteFile(repository.IndexDir(dir)+"/shard-000.sqlite", nil, 0o600)
		}, true},
		"of another": {func(t *testing.T, dir string) error {
			swapIndex(t, dir, readFiles(t, repository.IndexDir(strange)))
			return nil
		}, true},
		"damaged": {func(t *testing.T, dir string) error {
			flip(t, repository.IndexDir(dir)+"/shard-000.sqlite", 300, 1)
			return nil
		}, false},
		"a file": {func(_ *testing.T, dir string) error {
			return errors.Join(os.RemoveAll(repository.IndexDir(dir)), os.MkdirAll(repository.IndexDir(dir)+"/shard-000.sqlite", 0o700))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := errors.Join(os.CopyFS(dir, os.DirFS(whole)), c.make(t, dir)); err != nil {
				t.Fatal(err)
			}
			r := open(t, dir, repository.Options{Reindex: true})
			res, err := r.Reindex(t.Context(), nil)
			if err != nil || (res.Aside != "") != c.aside {
				t.Errorf("%+v, %v", res, err)
			}
			if c.aside {
				if _, err := os.Stat(res.Aside); err != nil {
					t.Error(err)
				}
			}
			wantSound(t, r, want)
			closeNow(t, r)
			r, said := openLogged(t, dir)
			if len(said) > 0 {
				t.Errorf("it was said: %q", said)
			}
			wantSound(t, r, want)
			closeNow(t, r)
		})
	}
}

// TestReindexInterrupted: a rebuild that is interrupted leaves the old files, and is run again.
func TestReindexInterrupted(t *testing.T) {
	dir, want := filled(t)
	r := open(t, dir, repository.Options{})
	defer closeNow(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := r.Reindex(ctx, func(int) { cancel() }); !errors.Is(err, context.Canceled) && err != nil {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := r.Reindex(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	checkIndex(t, dir)
	load(t, r, 1, []page.Fetch{})
	wantSound(t, r, want)
	if _, err := r.Reindex(t.Context(), func(int) {
		if _, err := r.Reindex(t.Context(), nil); !errors.Is(err, repository.ErrReindexing) || !strings.Contains(err.Error(), "already; when that is done, run the same command again") {
			t.Errorf("a second one: %v", err)
		}
	}); err != nil {
		t.Error(err)
	}
	wantSound(t, r, want)
}
