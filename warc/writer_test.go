package warc

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

func sample() []page.Fetch {
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	return []page.Fetch{
		{URL: "http://a.example/", Time: at, Status: 200, Header: http.Header{"Content-Type": {"text/html"}, "B": {"1", "2"}}, Body: []byte("<p>one")},
		{URL: "http://a.example/gone", Time: at.Add(1), Status: 410, Header: http.Header{}, Body: nil},
		{URL: "http://a.example/", Time: at.Add(2), Status: 304, Header: http.Header{}, Revisit: true},
		{URL: "http://a.example/utf8", Time: at.Truncate(time.Second), Status: 999, Header: http.Header{"X": {"café"}}, Body: []byte("\r\n\r\nWARC/1.1\r\n")},
	}
}

func writeSample(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.WriteInfo(time.Unix(0, 0), Fields{{"software", "test"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteRequest("http://a.example/", time.Unix(1, 0), []byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	for _, f := range sample() {
		if err := w.WriteFetch(&f); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWriter writes fetches and reads them back.
func TestWriter(t *testing.T) {
	var out, again bytes.Buffer
	w := NewWriter(&out)
	writeSample(t, w)
	if w.Offset() != int64(out.Len()) {
		t.Errorf("offset %d after %d bytes", w.Offset(), out.Len())
	}
	writeSample(t, NewWriter(&again))
	if !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Error("not the same bytes the second time")
	}
	r := NewReader(&out, "test", Options{})
	ids := map[string]bool{}
	var got []page.Fetch
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Version != "1.1" || !strings.HasPrefix(rec.ID, "urn:uuid:") || ids[rec.ID] {
			t.Errorf("record %+v", rec)
		}
		ids[rec.ID] = true
		if f, ok := rec.Fetch(); ok {
			f.Header.Del("Content-Length")
			if len(f.Body) == 0 {
				f.Body = nil
			}
			got = append(got, f)
		}
	}
	if want := sample(); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if s := r.Stats(); s.Problems != 0 || summary(s) != "request=1 response=3 revisit=1 warcinfo=1 fetches=4" {
		t.Errorf("%s %v", summary(s), r.Problems())
	}
}

func TestWriterRefuses(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	if err := w.WriteFetch(&page.Fetch{URL: "http://a.example/", Err: "timeout"}); err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("a fetch without a response: %v", err)
	}
	if _, err := w.Write(Fields{{"WARC-Target-URI", "http://a.example/\r\nWARC-Type: forged"}}, nil); err == nil {
		t.Error("a line end in a field is written")
	}
	if out.Len() > 0 {
		t.Error("something is written all the same")
	}
}

// TestCreate shows that a file has its name only once it is complete.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.warc.gz")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	writeSample(t, w.Writer)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there before Close: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if fetches, r := readAll(t, path, Options{}); len(fetches) != len(sample()) || r.Stats().Problems > 0 {
		t.Errorf("%d fetches, %v", len(fetches), r.Problems())
	}
	if _, err := Create(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("creating it again: %v", err)
	}
}

// TestCreateThroughLink: whoever can write to the directory must not choose the file that is
// overwritten.
func TestCreateThroughLink(t *testing.T) {
	dir := t.TempDir()
	precious, path := filepath.Join(dir, "precious"), filepath.Join(dir, "a.warc.gz")
	if err := os.WriteFile(precious, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(precious, path+openSuffix); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	writeSample(t, w.Writer)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(precious); err != nil || string(data) != "mine" {
		t.Errorf("the file behind the link has %d bytes (%v)", len(data), err)
	}
}

type failingWriter struct{ left int }

var errFull = errors.New("no space")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriterFails wants the first failure of the destination from all later calls.
func TestWriterFails(t *testing.T) {
	f := sample()[0]
	for room := range 500 {
		w := NewWriter(&failingWriter{room})
		first := w.WriteFetch(&f)
		second := w.WriteFetch(&f)
		if first != nil && !errors.Is(first, errFull) || !errors.Is(second, errFull) && room < 300 {
			t.Fatalf("room for %d bytes: %v, then %v", room, first, second)
		}
	}
}

// TestFailureNamesRecord: a record without a URL is named by its type.
func TestFailureNamesRecord(t *testing.T) {
	_, err := NewWriter(&failingWriter{0}).Write(Fields{{"WARC-Type", "warcinfo"}}, nil)
	if err == nil || err.Error() != "write WARC record 0 (warcinfo): no space" {
		t.Error(err)
	}
}

// TestWriteResource writes a resource and reads it back: a fetch with the media type of the record.
func TestWriteResource(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	if err := NewWriter(&out).WriteResource("http://a.example/plan.pdf", at, "text/html; charset=utf-8", []byte("<p>plan")); err != nil {
		t.Fatal(err)
	}
	n := 0
	for f, err := range NewReader(&out, "test", Options{}).Fetches() {
		n++
		if err != nil || f.URL != "http://a.example/plan.pdf" || !f.Time.Equal(at) || f.Status != 200 ||
			f.Header.Get("Content-Type") != "text/html; charset=utf-8" || string(f.Body) != "<p>plan" {
			t.Errorf("%+v, %v", f, err)
		}
	}
	if n != 1 {
		t.Errorf("%d fetches", n)
	}
}
