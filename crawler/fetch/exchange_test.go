package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/coding/codingtest"
)

// site is a real server that speaks HTTP/2 where it is agreed on.
func site(t testing.TB, http2, secure bool, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = http2
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// trusts makes a Fetcher trust the server, whose certificate is for example.com.
func trusts(s *httptest.Server) func(*Options) {
	return func(o *Options) { o.TLS = tlsFor(s) }
}

func tlsFor(s *httptest.Server) *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{RootCAs: roots}
}

func at(s *httptest.Server) string { return s.Listener.Addr().String() }

// TestProtocols: the same exchange over all three, twice each on one connection.
func TestProtocols(t *testing.T) {
	for _, c := range []struct {
		proto, scheme string
		header        string // the first lines of the block
	}{
		{"HTTP/1.1", "http", "HTTP/1.1 200 OK\r\nb-Header: 2\r\na-Header: 1\r\n"},
		{"HTTP/1.1", "https", "HTTP/1.1 200 OK\r\nb-Header: 2\r\na-Header: 1\r\n"},
		{"HTTP/2.0", "https", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: "},
	} {
		t.Run(c.proto+" "+c.scheme, func(t *testing.T) {
			body := strings.Repeat("hello, world\n", 1000)
			coded := string(codingtest.Encode(t, "gzip", []byte(body)))
			s := site(t, c.proto == "HTTP/2.0", c.scheme == "https", func(w http.ResponseWriter, r *http.Request) {
				if r.Proto == "HTTP/2.0" {
					w.Header().Set("Content-Encoding", "gzip")
					_, _ = io.WriteString(w, coded)
					return
				}
				rw, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer rw.Close()
				fmt.Fprintf(rw, "%sConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", c.header, len(coded), coded)
			})
			change := []func(*Options){}
			if c.scheme == "https" {
				change = append(change, trusts(s))
			}
			f := newFetcher(t, at(s), change...)
			for i := range 2 {
				res := get(t, f, c.scheme+"://example.com/x")
				if res.Class != OK || res.Proto != c.proto || string(res.Fetch.Body) != body || string(res.Payload) != coded {
					t.Fatalf("%v: %s, %d bytes of body, %d of payload", res.Cause, res.Proto, len(res.Fetch.Body), len(res.Payload))
				}
				if !strings.HasPrefix(string(res.HeaderBlock), c.header) {
					t.Errorf("header block %q", res.HeaderBlock)
				}
				if res.RemoteAddr.Addr() != public {
					t.Errorf("remote address %v", res.RemoteAddr)
				}
				// The server that hijacks closes the connection, and says so: a client that
				// is not told may send the next request before it sees the end.
				if want := i == 1 && c.proto == "HTTP/2.0"; res.Reused != want {
					t.Errorf("fetch %d: reused %v", i+1, res.Reused)
				}
				if fresh := res.Timings.Connect > 0; fresh == res.Reused || c.scheme == "https" && (res.Timings.TLS > 0) != fresh {
					t.Errorf("timings %+v with reused %v", res.Timings, res.Reused)
				}
				if res.Timings.Total < res.Timings.Connect+res.Timings.TLS || res.Timings.Total == 0 {
					t.Errorf("timings %+v", res.Timings)
				}
			}
		})
	}
}

// TestReuse: connections are kept, and each of the hosts has its own.
func TestReuse(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		s := site(t, http2, true, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Host+r.Header.Get("Cookie")+r.Header.Get("Referer"))
		})
		f := newFetcher(t, at(s), trusts(s), func(o *Options) { o.TLS.InsecureSkipVerify = true })
		for i, want := range []bool{false, false, true, true, true, true} {
			host := fmt.Sprintf("%c.test", 'a'+i%2)
			res := get(t, f, "https://"+host+"/")
			if res.Reused != want || string(res.Fetch.Body) != host {
				t.Errorf("HTTP/2 %v, fetch %d: reused %v, body %q (%v)", http2, i+1, res.Reused, res.Fetch.Body, res.Cause)
			}
		}
	}
}

// TestStatelessness: cookies and the previous page are not sent, and neither are
// credentials.
func TestStatelessness(t *testing.T) {
	s := site(t, false, false, func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
		for _, name := range []string{"Cookie", "Referer", "Authorization"} {
			if v := r.Header.Get(name); v != "" {
				t.Errorf("%s: %s was sent", name, v)
			}
		}
	})
	f := newFetcher(t, at(s))
	for _, u := range []string{"http://h.test/", "http://user:secret@h.test/2", "http://h.test/3"} {
		if res := get(t, f, u); res.Class != OK {
			t.Error(res.Cause)
		}
	}
}

func TestConditional(t *testing.T) {
	s := site(t, true, true, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, "content")
	})
	f := newFetcher(t, at(s), trusts(s))
	first := get(t, f, "https://example.com/")
	second := do(t, f, Request{URL: "https://example.com/", ETag: first.Fetch.Header.Get("ETag")})
	if first.Fetch.Revisit || !second.Fetch.Revisit || second.Fetch.Status != 304 || len(second.Payload) > 0 {
		t.Errorf("first %+v\nsecond %+v", first.Fetch, second.Fetch)
	}
}

// TestTLSFailures: each in words that do not change.
func TestTLSFailures(t *testing.T) {
	secure := site(t, true, true, func(http.ResponseWriter, *http.Request) {})
	plain := site(t, false, false, func(http.ResponseWriter, *http.Request) {})
	old := httptest.NewUnstartedServer(nil)
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	defer old.Close()
	for _, c := range []struct {
		url    string
		s      *httptest.Server
		change func(*Options)
		want   string
	}{
		{"https://example.com/", secure, func(*Options) {}, "tls: the certificate is from an unknown authority"},
		{"https://other.test/", secure, trusts(secure), "tls: the certificate is for another host"},
		{"https://example.com/", plain, func(*Options) {}, "tls: what answers does not speak TLS"},
		{"https://example.com/", old, trusts(secure), "tls: the TLS handshake failed"},
	} {
		f := newFetcher(t, at(c.s), c.change)
		if res := get(t, f, c.url); res.Fetch.Err != c.want || res.Class != TLS {
			t.Errorf("%s: %q (%v), want %q", c.url, res.Fetch.Err, res.Cause, c.want)
		}
	}
}

// TestHTTP2Failures: what the specs for HTTP/1.1 cover, over HTTP/2.
func TestHTTP2Failures(t *testing.T) {
	s := site(t, true, true, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "hello")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/header":
			for i := range 7 {
				w.Header().Set(fmt.Sprint("X-", i), strings.Repeat("x", 1000))
			}
		case "/field": // for HPACK an error of the connection
			w.Header().Set("X", strings.Repeat("x", 10_000))
		case "/endless":
			for {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		}
	})
	f := newFetcher(t, at(s), trusts(s), func(o *Options) { o.MaxHeader, o.MaxPayload = 5000, 50_000 })
	for path, want := range map[string]string{
		"abort":   "reset: the connection ended before the response did",
		"cut":     "reset: the connection ended before the response did",
		"header":  "too-large: the response header is over 5000 bytes",
		"field":   "too-large: the response header is over 5000 bytes",
		"endless": "too-large: the payload is over 50000 bytes",
	} {
		if res := get(t, f, "https://example.com/"+path); res.Fetch.Err != want {
			t.Errorf("%s: %q (%v), want %q", path, res.Fetch.Err, res.Cause, want)
		}
	}
	if res := get(t, f, "https://example.com/"); res.Class != OK || res.RemoteAddr != netip.AddrPortFrom(public, 443) {
		t.Errorf("after the failures: %v from %v", res.Cause, res.RemoteAddr)
	}
}
