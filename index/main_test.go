package index

import (
	"context"
	"crypto/sha256"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestMain also is the child process of the crash and hammer tests.
func TestMain(m *testing.M) {
	killtest.Main(map[string]func() error{"crash": crashChild, "hammer": hammerChild})
	goleak.VerifyTestMain(m)
}

// ranked is how many of the best documents by text a search sorts again (rerankTop of package search).
const ranked = 100

func key(name string) page.ContentKey { return sha256.Sum256([]byte(name)) }

func openTestWriter(t testing.TB, dir string) *Writer {
	t.Helper()
	w, err := OpenWriter(t.Context(), dir, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, w)
	return w
}

func openTestReader(t testing.TB, dir string) *Reader {
	t.Helper()
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// Every test that reads ends with a check of what it read.
		if err := r.Check(context.Background()); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func apply(t testing.TB, w *Writer, changes ...Change) {
	t.Helper()
	if err := w.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
}
