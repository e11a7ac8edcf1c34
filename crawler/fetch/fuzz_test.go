package fetch

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webindexer/indexer/internal/coding/codingtest"
)

// FuzzHeader: the tape and the header's reader take anything.
func FuzzHeader(f *testing.F) {
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nbody"), 3)
	f.Add([]byte("HTTP/1.1 200 OK\nA: b\n c\nX: \xe9\n\n"), 100)
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		var tp tape
		tp.start(int64(len(stream)))
		cut = max(0, min(cut, len(stream)))
		tp.add(stream[:cut])
		tp.add(stream[cut:])
		tp.add([]byte("over the limit"))
		block := tp.header()
		if block == nil {
			return
		}
		if !bytes.Contains(stream, block) || headerLength(block) != len(block) || isInterim(block) {
			t.Errorf("header %q of %q", block, stream)
		}
		for name, values := range parseHeader(block) {
			if !utf8.ValidString(strings.Join(values, "")) || strings.TrimSpace(name) != name {
				t.Errorf("%s: %q", name, values)
			}
		}
	})
}

// FuzzResponse serves anything for a response: the results' invariants hold, and a
// good one can be recorded.
func FuzzResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 301 M\r\nLocation: /x\r\nRetry-After: 5\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 404\nX: \xff\n\n"))
	f.Add([]byte("HTTP/1.1 301 M\r\nLocation: /x\r\n \t\r\n \u00a0\r\n\r\n"))
	f.Add(append([]byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), codingtest.Encode(f, "gzip", []byte("hello"))...))
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := pipeServer(stream)
		fetcher := New(Options{Resolver: resolvesTo(public.String()), DialContext: s.dial})
		res := get(t, fetcher, "http://h.test/")
		fetcher.Close()
		s.wg.Wait()
		if res.Class == OK && (res.Fetch.Status < 200 || res.Fetch.Status == http.StatusNotModified) {
			t.Errorf("status %d is good", res.Fetch.Status)
		}
	})
}
