package repository_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/trace"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// The process that loads a page knows its journey exactly; the next process reconstructs
// it from the store and the clock, and the order is the same.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	u := page.MustParseURL("https://a.example/x")
	tell := func(load bool) *trace.Journey {
		r, err := repository.Open(t.Context(), dir, repository.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}()
		if load {
			f := &page.Fetch{URL: u, Time: time.Unix(1_700_000_000, 0), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<title>T</title><p>alpha")}
			if _, err := r.Load(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			if err := r.Quiesce(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		j, err := r.Trace(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	live, after := tell(true), tell(false)
	if !live.Recorded || live.Loaded.WithinMS != 0 || live.Searchable == nil || live.Searchable.WithinMS != 0 || live.TookMS == nil {
		t.Fatalf("live:\n%s", live.Text())
	}
	if after.Recorded || after.State != live.State || after.Loaded.TS != live.Loaded.TS || after.Searchable == nil || after.Canonical != u {
		t.Fatalf("after:\n%s\nlive:\n%s", after.Text(), live.Text())
	}
	for name, m := range map[string][2]*trace.Moment{"loaded": {live.Loaded, after.Loaded}, "searchable": {live.Searchable, after.Searchable}} {
		if m[1].At == nil {
			t.Fatalf("%s: no time after the fact", name)
		}
		off := m[1].At.Sub(*m[0].At).Abs()
		// A page is found while its export is under way, and the store knows the commit.
		if within := time.Duration(m[1].WithinMS * float64(time.Millisecond)); off > within+time.Second {
			t.Errorf("%s: off by %v, told within %v", name, off, within)
		}
	}
}

// TestSharedClock: a process that shares the table leaves no file when it is killed.
func TestSharedClock(t *testing.T) {
	m := newFleet(t).join(false)
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	left, err := filepath.Glob(filepath.Join(m.Dir(), "clock*"))
	if err != nil || len(left) > 0 {
		t.Errorf("files of the running process: %v, %v", left, err)
	}
}
