package index

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/index/search"
)

func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk fills a small disk.
func fillDisk(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, block := range []int{1 << 20, 4096, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, block))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
}

// TestReadOnFullDisk queries an index on a full disk: the query is answered or, if the log would have to be
// recovered, the error says that the disk is full.
func TestReadOnFullDisk(t *testing.T) {
	for _, c := range []struct {
		name   string
		killed bool
		shared bool // the file that readers share is there
	}{
		{"clean", false, false}, {"killed", true, true}, {"killed, and shared memory removed", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := smallDisk(t)
			dir := filepath.Join(disk, "index")
			if c.killed {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				killChild(t, dir, 0, 5)
			} else {
				w := openTestWriter(t, dir)
				for batch := range 5 {
					apply(t, w, Upsert(crashDoc(batch, 0)))
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if !c.shared {
				if err := os.Remove(shardPath(dir) + "-shm"); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
			fillDisk(t, disk)
			r, err := OpenReader(dir)
			if err == nil {
				var res *search.Results
				if res, err = r.Search(t.Context(), "batch3", search.Options{}); err == nil && res.Total == 0 {
					t.Error("nothing was found")
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
			if err != nil && (!IsFull(err) || !c.killed) {
				t.Errorf("want an answer, or an error that the disk is full: %v", err)
			}
			t.Log(err)
		})
	}
}

// TestMergeOnFullDisk merges on a disk without room: that is not an error, nothing is lost, and
// the segments are merged once there is room.
func TestMergeOnFullDisk(t *testing.T) {
	disk := smallDisk(t)
	dir := filepath.Join(disk, "index")
	w := openTestWriter(t, dir)
	changes := generate(40, 1)
	for _, c := range changes {
		apply(t, w, c)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = openTestWriter(t, dir)
	fillDisk(t, disk)
	err := w.submit(t.Context(), 1, func(tb *tables) error {
		w.mergeErr = errors.New("an earlier merge failed") // Close tries again
		_, err := tb.merge()
		return err
	})
	if !IsFull(err) {
		t.Fatalf("a merge on a full disk: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("a merge that had no room fails Close: %v", err)
	}
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	w = openTestWriter(t, dir)
	err = w.submit(t.Context(), 1, func(tb *tables) error {
		for more := true; more; {
			var err error
			if more, err = tb.merge(); err != nil {
				return err
			}
		}
		return tb.exec("INSERT INTO fts(fts, rank) VALUES('integrity-check', 0)")
	})
	if err != nil {
		t.Error(err)
	}
}
