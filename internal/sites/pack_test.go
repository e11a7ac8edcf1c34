package sites

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// TestPack packs every web, reads it back with package warc, and wants the same
// fetches, the same bytes the second time, and nothing reported of good ones.
func TestPack(t *testing.T) {
	for _, s := range allSites(t) {
		t.Run(s.Name, func(t *testing.T) {
			var first, second bytes.Buffer
			for _, dst := range []*bytes.Buffer{&first, &second} {
				if _, err := Pack(dst, s, PackOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(first.Bytes(), second.Bytes()) {
				t.Error("not the same bytes the second time")
			}
			compare(t, s.Fetches(), unpack(t, &first))
		})
	}
}

func unpack(t *testing.T, src *bytes.Buffer) []page.Fetch {
	t.Helper()
	r := warc.NewReader(src, "packed", warc.Options{})
	defer r.Close()
	var fetches []page.Fetch
	for f, err := range r.Fetches() {
		if err != nil {
			t.Fatal(err)
		}
		fetches = append(fetches, f)
	}
	failed := 0
	for _, f := range fetches {
		if f.Err != "" {
			failed++
		}
	}
	if n := r.Stats().Problems; n != failed {
		t.Errorf("%d problems, %d failed fetches: %v", n, failed, r.Problems())
	}
	return fetches
}

// compare compares what fetches mean: Content-Length and the words of an error
// are those of the reader.
func compare(t *testing.T, want, got []page.Fetch) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d fetches, want %d", len(got), len(want))
	}
	for i := range want {
		w, g := want[i], got[i]
		if (w.Err != "") != (g.Err != "") {
			t.Errorf("%s: error %q, want %q", w.URL, g.Err, w.Err)
		}
		if w.Err != "" {
			w.Err, g.Err = "", ""
			w.Status, g.Status, w.Header, g.Header = 0, 0, nil, nil
		}
		w.Header, g.Header = w.Header.Clone(), g.Header.Clone()
		g.Header.Del("Content-Length")
		if coding := w.Header.Get("Content-Encoding"); coding != "" { // declared, but not applied
			w.Header.Del("Content-Encoding")
		}
		if len(w.Body) == 0 && len(g.Body) == 0 {
			w.Body, g.Body = nil, nil
		}
		if !reflect.DeepEqual(w, g) {
			t.Errorf("fetch %d:\ngot  %+v\nwant %+v", i, g, w)
		}
	}
}

// TestPackTimes packs one history as two crawls.
func TestPackTimes(t *testing.T) {
	s, err := Load(siteDir + "/lighthouse.txt")
	if err != nil {
		t.Fatal(err)
	}
	cut := time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)
	var fetches []page.Fetch
	for _, opts := range []PackOptions{{Until: cut}, {From: cut}} {
		var dst bytes.Buffer
		if _, err := Pack(&dst, s, opts); err != nil {
			t.Fatal(err)
		}
		part := unpack(t, &dst)
		for _, f := range part {
			if f.Time.Before(cut) != (opts.Until == cut) {
				t.Errorf("%s of %s is in the wrong part", f.URL, f.Time)
			}
		}
		fetches = append(fetches, part...)
	}
	if len(fetches) != len(s.Fetches()) {
		t.Errorf("%d fetches in two parts, want %d", len(fetches), len(s.Fetches()))
	}
	if _, err := Pack(new(bytes.Buffer), s, PackOptions{From: cut.AddDate(10, 0, 0)}); err == nil {
		t.Error("packing nothing is no error")
	}
}

// failingWriter fails after the given number of bytes.
type failingWriter struct{ left int }

var errFull = errors.New("no space")

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		n := w.left
		w.left = 0
		return n, errFull
	}
	w.left -= len(p)
	return len(p), nil
}

func TestPackWriteError(t *testing.T) {
	s, err := Load(siteDir + "/codings.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 1, 300, 1000} {
		if _, err := Pack(&failingWriter{room}, s, PackOptions{}); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
}
