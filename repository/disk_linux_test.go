package repository_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
)

// mountSmall makes a directory with a file system of its own, of a size such as
// "64m", or skips: it takes root.
func mountSmall(t *testing.T, dir, size string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

func remount(t *testing.T, dir string, flags uintptr, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags|syscall.MS_REMOUNT, options); err != nil {
		t.Fatal(err)
	}
}

// bigWeb are pages of about 200 kB each that hardly compress.
func bigWeb(rnd *rand.Rand, pages int) []page.Fetch {
	fetches := make([]page.Fetch, pages)
	for i := range fetches {
		var body strings.Builder
		fmt.Fprintf(&body, "<title>Page %d</title><p>", i)
		for body.Len() < 200_000 {
			fmt.Fprintf(&body, "%x ", rnd.Uint64())
		}
		fetches[i] = page.Fetch{
			URL:  page.URL(fmt.Sprintf("https://big.example/%d", i)),
			Time: time.Date(2024, 3, 1, 0, 0, i, 0, time.UTC), Status: http.StatusOK,
			Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: []byte(body.String()),
		}
	}
	return fetches
}

// TestDiskFull fills the disk below a repository at work: the error says so, nothing is
// lost, and once there is room, everything continues.
func TestDiskFull(t *testing.T) {
	fetches := bigWeb(testenv.Random(t), 40)
	want := undisturbed(t, fetches)
	mounted := filepath.Join(t.TempDir(), "disk")
	mountSmall(t, mounted, "500m")
	dir, filler := filepath.Join(mounted, "data"), filepath.Join(mounted, "filler")

	r := open(t, dir, repository.Options{})
	load(t, r, 4, fetches[:5])
	fill(t, mounted, filler, 250<<20) // below what the store leaves alone
	_, err := loadAll(context.Background(), r, 4, fetches, nil)
	if err == nil {
		err = r.Quiesce(context.Background())
	}
	wantNoSpace(t, "load", err)
	if err := r.Close(); err != nil { // may say again why the pipeline had stopped
		wantNoSpace(t, "close", err)
	}
	if _, err := repository.Open(context.Background(), dir, repository.Options{}); err == nil {
		t.Error("Open on a full disk: no error")
	} else {
		wantNoSpace(t, "open", err)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	r = open(t, dir, repository.Options{})
	defer closeNow(t, r)
	load(t, r, 4, fetches)
	wantSound(t, r, want)
}

func wantNoSpace(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrNoSpace) {
		t.Errorf("%s on a full disk: %v, want ErrNoSpace", what, err)
	}
}

// fill writes a file that leaves the given bytes free.
func fill(t *testing.T, dir, file string, free uint64) {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	n := st.Bavail*uint64(st.Bsize) - free
	if err := os.WriteFile(file, make([]byte, n), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestIndexDiskFull has too small a disk below the index files alone. No document
// may end in the dead letters for that.
func TestIndexDiskFull(t *testing.T) {
	fetches := bigWeb(testenv.Random(t), 20)
	want := undisturbed(t, fetches)
	dir := filepath.Join(t.TempDir(), "data")
	mountSmall(t, repository.IndexDir(dir), "1m")
	r := open(t, dir, repository.Options{})
	_, err := loadAll(context.Background(), r, 4, fetches, nil)
	if err == nil {
		err = r.Quiesce(context.Background())
	}
	wantNoSpace(t, "load", err)
	if dead := r.Live().Dead; dead > 0 {
		t.Errorf("%d rows were given up on", dead)
	}
	if err := r.Close(); err != nil {
		wantNoSpace(t, "close", err)
	}
	remount(t, repository.IndexDir(dir), 0, "size=64m")
	r = open(t, dir, repository.Options{})
	defer closeNow(t, r)
	load(t, r, 4, fetches)
	wantSound(t, r, want)
}

// TestReadOnlyDisk opens a repository on a disk that cannot be written: a clear
// error, and it is what it was.
func TestReadOnlyDisk(t *testing.T) {
	fetches := versions(1)
	mounted := filepath.Join(t.TempDir(), "disk")
	mountSmall(t, mounted, "500m")
	dir := filepath.Join(mounted, "data")
	r := open(t, dir, repository.Options{})
	load(t, r, 1, fetches)
	want := digestOf(t, r)
	closeNow(t, r)
	remount(t, mounted, syscall.MS_RDONLY, "")
	_, err := repository.Open(context.Background(), dir, repository.Options{})
	if err == nil || !strings.Contains(err.Error(), "read-only file system") || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open on a read-only disk: %v, want an error that says so, and where", err)
	}
	if _, err := repository.Open(context.Background(), filepath.Join(mounted, "other"), repository.Options{}); err == nil {
		t.Error("a new directory on a read-only disk: no error")
	}
	remount(t, mounted, 0, "")
	r = open(t, dir, repository.Options{})
	defer closeNow(t, r)
	wantSound(t, r, want)
}

// TestReindexDiskFull has no room for new files: it says so, and the old ones are read and written as before.
func TestReindexDiskFull(t *testing.T) {
	fetches := bigWeb(testenv.Random(t), 20)
	want := undisturbed(t, fetches)
	dir := filepath.Join(t.TempDir(), "data")
	mountSmall(t, repository.IndexDir(dir), "24m")
	r := open(t, dir, repository.Options{})
	load(t, r, 4, fetches)
	fill(t, repository.IndexDir(dir), repository.IndexDir(dir)+"/filler", 2<<20)
	_, err := r.Reindex(t.Context(), nil)
	wantNoSpace(t, "reindex", err)
	if err := os.Remove(repository.IndexDir(dir) + "/filler"); err != nil {
		t.Fatal(err)
	}
	wantSound(t, r, want)
	closeNow(t, r)
	if files, err := filepath.Glob(filepath.Join(repository.IndexDir(dir), "shard*")); err != nil || len(files) != 1 {
		t.Errorf("left are %v, %v", files, err)
	}
	r = open(t, dir, repository.Options{})
	defer closeNow(t, r)
	remount(t, repository.IndexDir(dir), 0, "size=64m")
	if _, err := r.Reindex(t.Context(), nil); err != nil {
		t.Error(err)
	}
	wantSound(t, r, want)
}
