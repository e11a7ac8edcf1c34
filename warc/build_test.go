package warc

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

// Builders of files for the tests of this package.

// record is a response record of http://a.example/NAME in plain WARC/1.1.
func record(name, block string) string {
	return recordWith(name, int64(len(block)), block, "")
}

// recordWith claims a length of its own and has further header lines.
func recordWith(name string, length int64, block, more string) string {
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:test:%s>\r\n"+
		"WARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.example/%s\r\n%s"+
		"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		name, name, more, length, block)
}

// html is the block of a page that shows text.
func html(text string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>" + text
}

func gz(parts ...string) string {
	var out bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&out)
		if _, err := w.Write([]byte(part)); err != nil {
			panic(err)
		}
		if err := w.Close(); err != nil {
			panic(err)
		}
	}
	return out.String()
}

// onlyReader hides that a reader can seek.
type onlyReader struct{ r *strings.Reader }

func (r onlyReader) Read(p []byte) (int, error) { return r.r.Read(p) }

// read reads a file and says what came of it in one line: the name of each good
// fetch, in brackets that of each failed one, and the number of problems.
func read(t testing.TB, file string, opts Options) (string, *Reader) {
	t.Helper()
	return drain(t, NewReader(strings.NewReader(file), "test", opts))
}

func drain(t testing.TB, r *Reader) (string, *Reader) {
	t.Helper()
	defer r.Close()
	var words []string
	for f, err := range r.Fetches() {
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, describe(f))
	}
	words = append(words, fmt.Sprintf("problems=%d", r.Stats().Problems))
	return strings.Join(words, " "), r
}

func describe(f page.Fetch) string {
	name := strings.TrimPrefix(string(f.URL), "http://a.example/")
	switch {
	case f.Err != "":
		return "[" + name + "]"
	case f.Revisit:
		return name + "(revisit)"
	case f.Status != 200:
		return fmt.Sprintf("%s(%d)", name, f.Status)
	}
	return name
}
