package fetch

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestGoAway: an HTTP/2 server says that it ends the connection, and does, in the middle
// of a response. That is the end of a connection like any other.
func TestGoAway(t *testing.T) {
	for name, header := range map[string]bool{"before the header": false, "in the body": true} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(http.NotFoundHandler())
			s.TLS = &tls.Config{NextProtos: []string{"h2"}}
			s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){
				"h2": func(_ *http.Server, c *tls.Conn, _ http.Handler) { goAway(t, c, header) },
			}
			s.StartTLS()
			defer s.Close()
			f := newFetcher(t, at(s), trusts(s))
			res := get(t, f, "https://example.com/")
			if want := "reset: the connection ended before the response did"; res.Fetch.Err != want {
				t.Errorf("%q (%v), want %q", res.Fetch.Err, res.Cause, want)
			}
		})
	}
}

// goAway answers the first request with a part of a response, if any, and GOAWAY.
func goAway(t *testing.T, c *tls.Conn, header bool) {
	defer c.Close()
	f, err := acceptH2(c)
	if err != nil {
		t.Error(err)
		return
	}
	if header {
		var fields bytes.Buffer
		_ = hpack.NewEncoder(&fields).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields.Bytes(), EndHeaders: true})
		_ = f.WriteData(1, false, []byte("hello"))
	}
	if err := f.WriteGoAway(1, http2.ErrCodeEnhanceYourCalm, []byte("too many of you")); err != nil {
		t.Error(err)
	}
}
