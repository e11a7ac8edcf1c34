package replay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/loader/replay"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// sink notes what it is given.
type sink struct {
	mu   sync.Mutex
	urls map[page.URL]int
	fail error

	loading, announced int // calls of Loading: those that have not ended, all
	unannounced        int // loads of the first URL while none was under way
}

func (s *sink) Load(_ context.Context, f *page.Fetch) (loader.Effect, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return loader.Late, s.fail
	}
	if s.urls == nil {
		s.urls = make(map[page.URL]int)
	}
	s.urls[f.URL]++
	if s.loading == 0 && len(s.urls) == 1 {
		s.unannounced++
	}
	return loader.Effect(s.urls[f.URL] % 4), nil
}

func (s *sink) Loading() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loading++
	s.announced++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.loading--
	}
}

// record packs pages of the given sizes into a WARC file.
func record(t *testing.T, sizes ...int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := warc.NewWriter(&out)
	for i, n := range sizes {
		f := page.Fetch{
			URL: page.MustParseURL("https://example.org/" + strings.Repeat("x", i)), Time: time.Unix(int64(i), 0).UTC(),
			Status: 200, Header: map[string][]string{"Content-Type": {"text/plain"}}, Body: bytes.Repeat([]byte("a"), n),
		}
		if err := w.WriteFetch(&f); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// stream returns an input that can be read once, such as standard input.
func stream(name string, r io.Reader) replay.Input {
	return replay.Input{Name: name, Open: func(o warc.Options) (*warc.Reader, error) { return warc.NewReader(r, name, o), nil }}
}

// TestRun: every fetch of every input is loaded once, bodies larger than the
// buffer among them, and the counts add up.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.warc.gz")
	if err := os.WriteFile(file, record(t, 10, 20<<20, 20<<20, 30<<20, 0), 0o644); err != nil {
		t.Fatal(err)
	}
	var s sink
	var p replay.Progress
	inputs := []replay.Input{replay.File(file), stream("a stream", bytes.NewReader(record(t, 1, 2)))}
	if err := replay.Run(context.Background(), &s, inputs, replay.Options{Loaders: 3}, &p); err != nil {
		t.Fatal(err)
	}
	if len(s.urls) != 5 || p.Fetches.Load() != 7 || p.Records.Load() != 7 {
		t.Errorf("loaded %v; %d fetches, %d records", s.urls, p.Fetches.Load(), p.Records.Load())
	}
	if sum := p.Changed.Load() + p.Renewed.Load() + p.Late.Load() + p.Failed.Load(); sum != 7 {
		t.Errorf("effects add up to %d, not 7", sum)
	}
	// A stream may have to wait for its writer. The file does not fit into the buffers, so its
	// first fetch is loaded before all of it is read.
	if s.announced != 1 || s.loading != 0 || s.unannounced != 0 {
		t.Errorf("Loading was called %d times, and has %d times not ended; %d loads before it", s.announced, s.loading, s.unannounced)
	}
	if p.Current() != "a stream" {
		t.Errorf("the last input was %q", p.Current())
	}
}

// TestUnreadable: an input that cannot be opened is reported, and the others are read.
func TestUnreadable(t *testing.T) {
	var s sink
	missing := filepath.Join(t.TempDir(), "none.warc")
	inputs := []replay.Input{replay.File(missing), stream("good", bytes.NewReader(record(t, 1)))}
	err := replay.Run(context.Background(), &s, inputs, replay.Options{}, &replay.Progress{})
	var unread *replay.InputError
	if !errors.As(err, &unread) || unread.Name != missing || !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("error %v, want one that names %s", err, missing)
	}
	if len(s.urls) != 1 {
		t.Errorf("loaded %v, want the page of the other input", s.urls)
	}
}

// TestSinkFails: an error of the sink ends the run, even when all buffers are full.
func TestSinkFails(t *testing.T) {
	broken := errors.New("broken")
	s := sink{fail: broken}
	inputs := []replay.Input{stream("many", bytes.NewReader(record(t, make([]int, 200)...)))}
	if err := replay.Run(context.Background(), &s, inputs, replay.Options{Loaders: 2}, &replay.Progress{}); !errors.Is(err, broken) {
		t.Fatalf("error %v, want the sink's", err)
	}
}

// TestInterrupted: the end of the context is the error.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	var s sink
	inputs := []replay.Input{stream("many", bytes.NewReader(record(t, make([]int, 200)...)))}
	if err := replay.Run(ctx, &s, inputs, replay.Options{}, &replay.Progress{}); !errors.Is(err, why) {
		t.Fatalf("error %v, want the cause", err)
	}
}
