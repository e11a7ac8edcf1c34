package fetch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/page"
)

// slowServer is a server in memory, so that its time can be the test's.
type slowServer struct {
	wg    sync.WaitGroup
	serve func(c net.Conn) // returns when c fails, at the latest
}

func (s *slowServer) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	s.wg.Go(func() {
		defer server.Close()
		s.serve(server)
	})
	return client, nil
}

// drip answers a request with parts, waiting before each; then it waits for the
// client to go.
func drip(wait time.Duration, parts ...string) func(net.Conn) {
	return func(c net.Conn) {
		r := bufio.NewReader(c)
		if _, err := readRequest(r); err != nil {
			return
		}
		for _, part := range parts {
			time.Sleep(wait) // the bubble's clock
			if _, err := c.Write([]byte(part)); err != nil {
				return
			}
		}
		_, _ = r.ReadByte()
	}
}

// forever writes part again and again.
func forever(wait time.Duration, head, part string) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := readRequest(bufio.NewReader(c)); err != nil {
			return
		}
		_, err := c.Write([]byte(head))
		for err == nil {
			time.Sleep(wait)
			_, err = c.Write([]byte(part))
		}
	}
}

// pipeServer answers with bytes and closes.
func pipeServer(stream []byte) *slowServer {
	return &slowServer{serve: func(c net.Conn) {
		if _, err := readRequest(bufio.NewReader(c)); err == nil {
			_, _ = c.Write(stream) // fails if the client has seen enough
		}
	}}
}

// mute reads and never answers.
func mute(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func never(ctx context.Context, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

const okHead = "HTTP/1.1 200 OK\r\n\r\n"

// TestTimes holds each phase to its limit, to the nanosecond, in virtual time.
func TestTimes(t *testing.T) {
	hang := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, c := range []struct {
		name   string
		url    string
		serve  func(net.Conn)
		change func(*Options)
		want   string
		after  time.Duration
	}{
		{"name", "http://h.test/", nil, func(o *Options) { o.Resolver = resolverFunc(never) },
			"dns: no answer in time for the host's name", 10 * time.Second},
		{"connect", "http://h.test/", nil, func(o *Options) { o.DialContext = hang },
			"timeout: no connection within 10s", 10 * time.Second},
		{"connect to four of five addresses", "http://h.test/", nil, func(o *Options) {
			o.DialContext, o.Resolver = hang, resolvesTo("8.8.8.1", "8.8.8.2", "8.8.8.3", "8.8.8.4", "8.8.8.5")
		}, "timeout: no connection within 10s", 10 * time.Second},
		{"TLS", "https://h.test/", mute, nil, "timeout: no TLS handshake within 10s", 10 * time.Second},
		{"no header", "http://h.test/", mute, nil, "timeout: no response header within 30s", 30 * time.Second},
		{"header byte by byte", "http://h.test/", drip(time.Second, strings.Split("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 100), "")...), nil,
			"timeout: no response header within 30s", 30 * time.Second},
		{"endless header", "http://h.test/", forever(time.Millisecond, "HTTP/1.1 200 OK\r\n", "X: y\r\n"), func(o *Options) { o.MaxHeader = 6017 },
			"too-large: the response header is over 6017 bytes", time.Second},
		{"no body", "http://h.test/", drip(0, okHead), nil,
			"timeout: the body stalls or comes at less than 256 bytes per second", 20 * time.Second},
		{"body stalls after a megabyte", "http://h.test/", drip(0, okHead, strings.Repeat("x", 1<<20)), nil,
			"timeout: the body stalls or comes at less than 256 bytes per second", 20 * time.Second},
		// A byte each second: 20 s are granted, and 1/256 s for each byte.
		{"body byte by byte", "http://h.test/", forever(time.Second, okHead, "x"), nil,
			"timeout: the body stalls or comes at less than 256 bytes per second", 20*time.Second + 20*time.Second/256},
		{"endless body above the rate", "http://h.test/", forever(time.Second, okHead, strings.Repeat("x", 300)), nil,
			"timeout: not done within 2m0s", 2 * time.Minute},
		{"slow body that ends", "http://h.test/", drip(15*time.Second, "HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", strings.Repeat("x", 5000), strings.Repeat("x", 5000)), nil,
			"", 45 * time.Second},
		{"endless body within the limit of size", "http://h.test/", forever(time.Second, okHead, strings.Repeat("x", 1000)), func(o *Options) { o.MaxPayload = 9999 },
			"too-large: the payload is over 9999 bytes", 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slowServer{serve: c.serve}
				o := Options{Resolver: resolvesTo(public.String()), DialContext: s.dial}
				if c.change != nil {
					c.change(&o)
				}
				f := New(o)
				res := get(t, f, c.url)
				if res.Fetch.Err != c.want || res.Timings.Total != c.after {
					t.Errorf("%q after %v (%v); want %q after %v", res.Fetch.Err, res.Timings.Total, res.Cause, c.want, c.after)
				}
				f.Close()
				s.wg.Wait()
			})
		})
	}
}

// TestKeepAlive: a connection is not used again when the server may be about to close it.
func TestKeepAlive(t *testing.T) {
	for _, c := range []struct {
		field  string
		idle   time.Duration
		reused bool
	}{
		{"", 30 * time.Second, true},
		{"Keep-Alive: timeout=5, max=100\r\n", 4 * time.Second, true},
		{"Keep-Alive: timeout=5, max=100\r\n", 4*time.Second + 1, false},
		{"Keep-Alive: timeout=5, max=100\r\n", 5 * time.Second, false},
		{"keep-alive: max=100, Timeout = 1\r\n", 500 * time.Millisecond, true},
		{"keep-alive: max=100, Timeout = 1\r\n", 500*time.Millisecond + 1, false},
		{"Keep-Alive: timeout=0\r\n", 30 * time.Second, true},
		{"Keep-Alive: timeout=never, 5\r\n", 30 * time.Second, true},
	} {
		t.Run(fmt.Sprintf("%q after %v", c.field, c.idle), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var requests atomic.Int32
				s := &slowServer{serve: func(conn net.Conn) {
					r := bufio.NewReader(conn)
					for {
						if _, err := readRequest(r); err != nil {
							return
						}
						requests.Add(1)
						_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"+c.field+"\r\nok") // the client checks it
					}
				}}
				f := New(Options{Resolver: resolvesTo(public.String()), DialContext: s.dial})
				for i, reused := range []bool{false, c.reused} {
					res := get(t, f, "http://h.test/")
					if string(res.Fetch.Body) != "ok" || res.Reused != reused {
						t.Errorf("fetch %d: body %q, reused %v (%v)", i+1, res.Fetch.Body, res.Reused, res.Cause)
					}
					synctest.Wait() // the connection is idle
					time.Sleep(c.idle)
				}
				if n := requests.Load(); n != 2 {
					t.Errorf("%d requests", n)
				}
				f.Close()
				s.wg.Wait()
			})
		})
	}
}

// TestTimings: each phase's share, in virtual time.
func TestTimings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowServer{serve: drip(3*time.Second, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "ok")}
		f := New(Options{
			Resolver: resolverFunc(func(context.Context, string) ([]netip.Addr, error) {
				time.Sleep(time.Second)
				return []netip.Addr{public}, nil
			}),
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				time.Sleep(2 * time.Second)
				return s.dial(ctx, network, address)
			},
		})
		res := get(t, f, "http://h.test/")
		want := Timings{Resolve: time.Second, Connect: 2 * time.Second, FirstByte: 3 * time.Second, Total: 9 * time.Second}
		if res.Timings != want {
			t.Errorf("%+v, want %+v (%v)", res.Timings, want, res.Cause)
		}
		f.Close()
		s.wg.Wait()
	})
}

// TestCancel ends the caller's context in each phase: the fetch is over at once, and
// whatever it had begun with it.
func TestCancel(t *testing.T) {
	for _, c := range []struct {
		name, url string
		serve     func(net.Conn)
		resolver  Resolver
	}{
		{"name", "http://h.test/", nil, resolverFunc(never)},
		{"TLS", "https://h.test/", mute, resolvesTo(public.String())},
		{"header", "http://h.test/", mute, resolvesTo(public.String())},
		{"body", "http://h.test/", drip(0, okHead, "x"), resolvesTo(public.String())},
	} {
		for _, deadline := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, deadline %v", c.name, deadline), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &slowServer{serve: c.serve}
					f := New(Options{Resolver: c.resolver, DialContext: s.dial})
					ctx, cancel := context.WithCancel(context.Background())
					if deadline {
						ctx, cancel = context.WithTimeout(context.Background(), time.Second)
					} else {
						time.AfterFunc(time.Second, cancel)
					}
					defer cancel()
					res := f.Fetch(ctx, Request{URL: page.URL(c.url)})
					check(t, &res)
					if res.Class != Canceled || res.CountsAgainstHost() || !errors.Is(res.Cause, ctx.Err()) {
						t.Errorf("%v: %v", res.Class, res.Cause)
					}
					if res.Timings.Total != time.Second {
						t.Errorf("after %v", res.Timings.Total)
					}
					f.Close()
					s.wg.Wait()
				})
			})
		}
	}
}

// TestClose waits for fetches and lets no more begin.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowServer{serve: drip(time.Second, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "ok")}
		f := New(Options{Resolver: resolvesTo(public.String()), DialContext: s.dial})
		var under Result
		var wg sync.WaitGroup
		wg.Go(func() { under = f.Fetch(context.Background(), Request{URL: "http://h.test/"}) })
		synctest.Wait()
		start := time.Now()
		f.Close()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("Close took %v", took)
		}
		wg.Wait()
		if under.Class != OK {
			t.Errorf("the fetch under way: %v", under.Cause)
		}
		if res := get(t, f, "http://h.test/"); res.Class != Canceled || !errors.Is(res.Cause, errClosed) {
			t.Errorf("after Close: %v", res.Cause)
		}
		f.Close()
		s.wg.Wait()
	})
}
