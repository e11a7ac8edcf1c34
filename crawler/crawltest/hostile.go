package crawltest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/webindexer/indexer/page"
)

// hostile are responses that are not HTTP, or too large. Each writes to a connection
// until its client closes it, so write errors are the expected end. The test checks how
// the client handles them.
var hostile = map[string]func(c net.Conn, f *page.Fetch){
	// A header, a byte at a time.
	"loris": func(c net.Conn, _ *page.Fetch) {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Loris: ")
		for err == nil {
			<-time.After(20 * time.Millisecond)
			_, err = io.WriteString(c, "x")
		}
	},
	// A body, a byte at a time.
	"drip": func(c net.Conn, _ *page.Fetch) {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
		for err == nil {
			<-time.After(20 * time.Millisecond)
			_, err = io.WriteString(c, "x")
		}
	},
	// A header without an end.
	"flood": func(c net.Conn, _ *page.Fetch) {
		_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		for i := 0; err == nil; i++ {
			_, err = fmt.Fprintf(c, "X-Flood-%d: %s\r\n", i, strings.Repeat("x", 1000))
		}
	},
	// A body without an end.
	"endless": func(c net.Conn, f *page.Fetch) {
		_, err := fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n%s", f.Body)
		for err == nil {
			_, err = io.WriteString(c, strings.Repeat("and so on\n", 1000))
		}
	},
	// An impossible length.
	"huge": func(c net.Conn, _ *page.Fetch) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9000000000000\r\n\r\nx")
	},
	// A reset in the body.
	"reset": func(c net.Conn, f *page.Fetch) {
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n%s", f.Body)
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
	},
	// Invalid chunks.
	"chunks": func(c net.Conn, _ *page.Fetch) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnot a chunk\r\n")
	},
	// Two lengths.
	"lengths": func(c net.Conn, f *page.Fetch) {
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\n%s", f.Body)
	},
	// Another protocol.
	"ssh": func(c net.Conn, _ *page.Fetch) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n") },
}

// attack answers as hostile servers do. The client acts only after it has closed the
// connection, so the request counts as over when it began.
func (h *host) attack(w http.ResponseWriter, x *Request, f *page.Fetch, act func(net.Conn, *page.Fetch)) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	h.web.end(x, 0)
	act(conn, f)
	_ = conn.Close()
}

// compress applies a content coding to a body.
func compress(coding string, body []byte) []byte {
	var out bytes.Buffer
	var z io.WriteCloser
	switch coding {
	case "br":
		z = brotli.NewWriter(&out)
	case "zstd":
		var err error
		if z, err = zstd.NewWriter(&out); err != nil {
			panic(err)
		}
	case "deflate":
		z = zlib.NewWriter(&out)
	default:
		z = gzip.NewWriter(&out)
	}
	_, _ = z.Write(body) // to memory
	_ = z.Close()
	return out.Bytes()
}
