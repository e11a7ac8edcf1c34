package fetch

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// serveH2 is a TLS server that reads the first request of a connection, and then does what
// the test says, until the client closes the connection.
func serveH2(t *testing.T, answer func(*http2.Framer)) *httptest.Server {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.TLS = &tls.Config{NextProtos: []string{"h2"}}
	s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
		"h2": func(_ *http.Server, c *tls.Conn, _ http.Handler) { answerH2(t, c, answer) },
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// acceptH2 begins an HTTP/2 connection of a server and reads up to the first request.
func acceptH2(c *tls.Conn) (*http2.Framer, error) {
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return nil, err
	}
	f := http2.NewFramer(c, c)
	if err := f.WriteSettings(); err != nil {
		return nil, err
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return nil, err
		}
		if _, asked := frame.(*http2.HeadersFrame); asked {
			return f, nil
		}
	}
}

func answerH2(t *testing.T, c *tls.Conn, answer func(*http2.Framer)) {
	f, err := acceptH2(c)
	if err != nil {
		t.Error(err)
		return
	}
	var rest sync.WaitGroup
	rest.Go(func() { _, _ = io.Copy(io.Discard, c) }) // a pipe has no buffer
	answer(f)
	rest.Wait()
}

// fields are a status and other fields, encoded.
func fields(status string, others ...hpack.HeaderField) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for _, field := range append([]hpack.HeaderField{{Name: ":status", Value: status}}, others...) {
		_ = e.WriteField(field) // a Buffer does not fail
	}
	return b.Bytes()
}

// writeHeader writes a header in as many frames as it needs.
func writeHeader(f *http2.Framer, block []byte) {
	n := min(len(block), firstFrame)
	err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:n], EndHeaders: n == len(block)})
	for block = block[n:]; err == nil && len(block) > 0; block = block[n:] {
		n = min(len(block), firstFrame)
		err = f.WriteContinuation(1, n == len(block), block[:n])
	}
}

// TestHostileHTTP2: headers that are too large in one way or another, and one that is damaged.
func TestHostileHTTP2(t *testing.T) {
	const tooLarge = "too-large: the response header is over 262144 bytes"
	var many []hpack.HeaderField
	for i := range 300 {
		many = append(many, hpack.HeaderField{Name: fmt.Sprint("x-", i), Value: strings.Repeat("y", 1000)})
	}
	for _, test := range []struct {
		name, want string
		answer     func(*http2.Framer)
	}{
		{"one large field", tooLarge, func(f *http2.Framer) {
			writeHeader(f, fields("200", hpack.HeaderField{Name: "x", Value: strings.Repeat("y", 300<<10)}))
		}},
		{"many fields", tooLarge, func(f *http2.Framer) { writeHeader(f, fields("200", many...)) }},
		{"endless header", tooLarge, func(f *http2.Framer) {
			err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields("200")})
			more := fields("200", many[0])[1:] // without the status, which is one byte
			for err == nil {
				err = f.WriteContinuation(1, false, more)
			}
		}},
		{"endless interim responses", tooLarge, func(f *http2.Framer) {
			for range 300 {
				writeHeader(f, fields("103", many[0]))
			}
		}},
		{"damaged header", "bad-response: the response is not valid HTTP", func(f *http2.Framer) {
			writeHeader(f, []byte{0xff, 0xff, 0xff, 0x7f})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serveH2(t, test.answer)
			if res := get(t, newFetcher(t, at(s), trusts(s)), "https://example.com/"); res.Fetch.Err != test.want {
				t.Errorf("%q (%v), want %q", res.Fetch.Err, res.Cause, test.want)
			}
		})
	}
}

// TestSilentHTTP2: a host that stops answering on its connection, in virtual time. In each
// case the client sends pings that are not answered.
func TestSilentHTTP2(t *testing.T) {
	certified := serveH2(t, nil) // for its certificate
	end := func(f *http2.Framer) {
		writeHeader(f, fields("200"))
		_ = f.WriteData(1, true, []byte("hello"))
	}
	for _, test := range []struct {
		name   string
		answer func(*http2.Framer)
		again  time.Duration // after the first fetch; 0: make only one
		want   string
		after  time.Duration // of the last fetch
	}{
		{"before the header", func(*http2.Framer) {}, 0, "timeout: no response header within 30s", 30 * time.Second},
		{"in the header", func(f *http2.Framer) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields("200")})
		}, 0, "timeout: no response header within 30s", 30 * time.Second},
		{"in the body", func(f *http2.Framer) { writeHeader(f, fields("200")) }, 0,
			"timeout: the body stalls or comes at less than 256 bytes per second", 20 * time.Second},
		// A ping after 15 s has no answer within 30 s.
		{"between two requests", end, 20 * time.Second, "reset: the connection ended before the response did", 25 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slowServer{serve: func(c net.Conn) {
					secure := tls.Server(c, &tls.Config{Certificates: certified.TLS.Certificates, NextProtos: []string{"h2"}})
					answerH2(t, secure, test.answer)
				}}
				f := New(Options{Resolver: resolvesTo(public.String()), DialContext: s.dial, TLS: tlsFor(certified)})
				if test.again > 0 {
					if res := get(t, f, "https://example.com/"); res.Class != OK {
						t.Error(res.Cause)
					}
					time.Sleep(test.again)
				}
				res := get(t, f, "https://example.com/")
				if res.Fetch.Err != test.want || res.Timings.Total != test.after {
					t.Errorf("%q (%v) after %v, want %q after %v", res.Fetch.Err, res.Cause, res.Timings.Total, test.want, test.after)
				}
				f.Close()
				s.wg.Wait()
			})
		})
	}
}
