package cli

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/sleep"
)

// fixtures is the directory of all fixtures while the tests run.
var fixtures string

// fixturesMain runs tests, and removes the fixtures.
type fixturesMain struct{ M interface{ Run() int } }

// Run implements the interface of testscript.Main.
func (m fixturesMain) Run() int {
	defer func() { _ = os.RemoveAll(fixtures) }() // in the directory for temporary files
	return m.M.Run()
}

// fixture is a directory that several tests begin with, and that none of them changes.
type fixture struct {
	once sync.Once
	dir  string
}

var fixturesMade sync.Once

// at returns the directory, which the first caller makes.
func (f *fixture) at(t *testing.T, make func(dir string)) string {
	t.Helper()
	f.once.Do(func() {
		var err error
		fixturesMade.Do(func() { fixtures, err = os.MkdirTemp("", "cli-fixtures-") })
		var dir string
		if err == nil {
			dir, err = os.MkdirTemp(fixtures, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		make(dir)
		f.dir = dir
	})
	if f.dir == "" {
		t.Fatal("the directory could not be made; see the first test that has failed")
	}
	return f.dir
}

// copyOf copies a data directory that no process has.
func copyOf(t *testing.T, data string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.CopyFS(copied, os.DirFS(data)), os.Chmod(copied, privateMode)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// until asks again and again until the answer is yes. It leaves the processor to whom it waits for
// in between.
func until(t *testing.T, condition func() bool) {
	t.Helper()
	for !condition() {
		if err := sleep.For(t.Context(), 20*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

// tideSite serves a site of one page, and returns its URL.
func tideSite(t *testing.T) string {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, "<title>The tide table</title><p>High water is at noon.") // to a test
	}))
	t.Cleanup(site.Close)
	return site.URL + "/"
}
