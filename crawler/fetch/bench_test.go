package fetch

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/coding/codingtest"
	"github.com/webindexer/indexer/page"
)

// BenchmarkFetch fetches a page of 160 kB from a server in the same process on a
// kept connection: the server's share is in the numbers.
func BenchmarkFetch(b *testing.B) {
	body := []byte(strings.Repeat("<p>A paragraph like many others, number by number.</p>\n", 3000))
	for _, c := range []struct{ name, coding string }{{"plain", "as-is"}, {"gzip", "gzip"}, {"br", "br"}, {"zstd", "zstd"}} {
		b.Run(c.name, func(b *testing.B) {
			coded := codingtest.Encode(b, c.coding, body)
			s := site(b, false, false, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", strconv.Itoa(len(coded)))
				if c.coding != "as-is" {
					w.Header().Set("Content-Encoding", c.coding)
				}
				_, _ = w.Write(coded)
			})
			f := newFetcher(b, at(s))
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if res := f.Fetch(context.Background(), Request{URL: page.URL("http://h.test/")}); res.Class != OK {
					b.Fatal(res.Cause)
				}
			}
		})
	}
}

// BenchmarkSmall fetches 2 bytes from a server that does nothing: the cost of an
// exchange alone, compared with one of net/http's Client that does the same and keeps
// less.
func BenchmarkSmall(b *testing.B) {
	s := serveRaw(b, answerWith("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok"))
	b.Run("Fetcher", func(b *testing.B) {
		f := newFetcher(b, s.addr)
		b.ReportAllocs()
		for b.Loop() {
			if res := f.Fetch(context.Background(), Request{URL: "http://h.test/"}); res.Class != OK {
				b.Fatal(res.Cause)
			}
		}
	})
	b.Run("http.Client", func(b *testing.B) {
		transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.addr)
		}}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport}
		b.ReportAllocs()
		for b.Loop() {
			resp, err := client.Get("http://h.test/")
			if err != nil {
				b.Fatal(err)
			}
			buf := make([]byte, 16)
			for err == nil {
				_, err = resp.Body.Read(buf)
			}
			resp.Body.Close()
		}
	})
}
