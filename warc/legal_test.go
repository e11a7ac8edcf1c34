package warc

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// TestLegalRecords: what of a record decides which fetch it is.
func TestLegalRecords(t *testing.T) {
	ok := html("x")
	resource := strings.Replace(record("1", ok), "WARC-Type: response", "WARC-Type: resource", 1)
	revisit := func(more string) string {
		return strings.Replace(recordWith("1", 0, "", more), "WARC-Type: response", "WARC-Type: revisit", 1)
	}
	length := fmt.Sprintf("Content-Length: %d\r\n", len(ok))
	good := `200 "<p>x" 2024-01-01T00:00:00Z`
	for _, test := range []struct{ name, file, want string }{
		{"a type in other letters", strings.Replace(record("1", ok), "WARC-Type: response", "WARC-Type: Response", 1), good},
		{"a response that says not modified", record("1", "HTTP/1.1 304 Not Modified\r\n\r\n"), `304 "" 2024-01-01T00:00:00Z revisit`},
		{"a revisit of which only the profile says why", revisit("WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n"),
			`304 "" 2024-01-01T00:00:00Z revisit`},
		{"a revisit with the same payload", revisit("WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"),
			`0 "" 2024-01-01T00:00:00Z revisit`},
		{"a resource that is a response", resource, good},
		{"a length twice", recordWith("1", int64(len(ok)), ok, length), good},
		{"two lengths", recordWith("1", int64(len(ok)), ok, "Content-Length: 3\r\n"), `0 "" 2024-01-01T00:00:00Z failed`},
		{"a length with zeros", strings.Replace(record("1", ok), "Content-Length: ", "Content-Length: 00", 1), good},
		{"a date in another zone", strings.Replace(record("1", ok), "00:00:00Z", "00:00:00+02:00", 1), `200 "<p>x" 2023-12-31T22:00:00Z`},
		{"an HTTP header of more than two mebibytes", record("1", "HTTP/1.1 200 OK\r\nA: "+strings.Repeat("b", maxHeader)+"\r\n\r\n<p>x"),
			`0 "" 2024-01-01T00:00:00Z failed`},
		{"zstd frames with a block of one byte that is repeated", strings.Repeat(zstdRepeating(record("1", html(strings.Repeat("y", 600))), "y", 600), 2),
			strings.Repeat(fmt.Sprintf("200 %q 2024-01-01T00:00:00Z", "<p>"+strings.Repeat("y", 600)), 2)},
	} {
		r := NewReader(strings.NewReader(test.file), "test", Options{})
		got := ""
		for f, err := range r.Fetches() {
			if err != nil {
				t.Fatal(err)
			}
			got += fmt.Sprintf("%d %q %s", f.Status, f.Body, f.Time.Format(time.RFC3339))
			if f.Err != "" {
				got += " failed"
			}
			if f.Revisit {
				got += " revisit"
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s; %v", test.name, got, test.want, r.Problems())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// zstdRepeating returns a frame in which one block says to repeat a byte.
func zstdRepeating(text, repeated string, n int) string {
	before, after, _ := strings.Cut(text, strings.Repeat(repeated, n))
	block := func(last, kind, size int, content string) string {
		head := last | kind<<1 | size<<3
		return string([]byte{byte(head), byte(head >> 8), byte(head >> 16)}) + content
	}
	return zstdMagic + "\x00\x00" + block(0, 0, len(before), before) + block(0, 1, n, repeated) + block(1, 0, len(after), after)
}

// TestResourceIsOwn: the body of a resource may be as long as the limit, and outlives its record.
func TestResourceIsOwn(t *testing.T) {
	body := strings.Repeat("body ", 20)
	resource := strings.Replace(record("1", body), "WARC-Type: response", "WARC-Type: resource", 1)
	r := NewReader(onlyReader{strings.NewReader(resource + strings.Repeat(record("2", html(strings.Repeat("later", 1000))), 200))}, "test", Options{MaxBody: int64(len(body))})
	defer r.Close()
	var first *page.Fetch
	for f, err := range r.Fetches() {
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = &f
		}
	}
	if first == nil || string(first.Body) != body {
		t.Errorf("the first fetch is now %+v", first)
	}
}

// TestWriterKeepsItsPromises: each record has an id of its own, dates are in UTC, no header line is forged,
// and the places and digests are those of the record.
func TestWriterKeepsItsPromises(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.FixedZone("", 7200))
	one, err := w.WriteRequest("http://a.example/", at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := w.WriteRequest("http://a.example/", at, nil); err != nil || two == one {
		t.Errorf("two records have the id %s, %v", two, err)
	}
	if err := w.WriteFetch(&page.Fetch{URL: "http://a.example/", Time: at, Status: 200, Header: http.Header{"A": {"b\r\nC: d"}}}); err != nil {
		t.Fatal(err)
	}
	before := int64(out.Len())
	from, to, err := w.WriteResponse(Exchange{URL: "http://a.example/", Date: at, Status: 200, Block: []byte(html("x")), Payload: []byte("<p>x")})
	if err != nil || from != before || to != int64(out.Len()) {
		t.Errorf("a record from %d to %d, %v; want %d to %d", from, to, err, before, out.Len())
	}
	r := NewReader(&out, "test", Options{})
	defer r.Close()
	for i := range 4 {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if date := rec.Fields.Get("WARC-Date"); date != "2023-12-31T22:00:00Z" {
			t.Errorf("record %d has the date %s", i, date)
		}
		f, _ := rec.Fetch()
		if i == 2 && (f.Header.Get("A") != "b  C: d" || f.Header.Get("C") != "") {
			t.Errorf("the header is %v", f.Header)
		}
		if got := rec.Fields.Get("WARC-Payload-Digest"); i == 3 && got != Digest([]byte("<p>x")) {
			t.Errorf("the digest of the payload is %s", got)
		}
	}
}

// TestLeaveFile: a file that is left open has everything that was written to it.
func TestLeaveFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.warc.gz")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	writeSample(t, w.Writer)
	if err := w.Leave(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path + openSuffix)
	if err != nil || info.Size() != w.Offset() {
		t.Errorf("%v, %v; want %d bytes", info, err, w.Offset())
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file has its name: %v", err)
	}
}
