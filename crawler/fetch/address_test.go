package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/page"
)

func TestRefuseAddress(t *testing.T) {
	datadriven.RunTest(t, "testdata/addresses", func(t *testing.T, d *datadriven.TestData) string {
		var b strings.Builder
		for line := range strings.SplitSeq(d.Input, "\n") {
			reason := RefuseAddress(netip.MustParseAddr(line))
			if reason == "" {
				reason = line + ": public"
			}
			fmt.Fprintln(&b, reason)
		}
		return b.String()
	})
	if RefuseAddress(netip.Addr{}) == "" {
		t.Error("no address at all is let through")
	}
}

// privateHosts are URLs as in pages, all of which lead to private addresses.
var privateHosts = []string{
	"http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/",
	"http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[64:ff9b::7f00:1]/",
	"http://0/", "http://10.1.2.3/", "http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/",
	"http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "https://127.0.0.1/", "http://１２７.0.0.1/",
}

// TestLiteralHostsAreRefused needs no connection and no resolver to refuse.
func TestLiteralHostsAreRefused(t *testing.T) {
	f := New(Options{Resolver: unaskedResolver(t), DialContext: unusedDial(t)})
	defer f.Close()
	for _, raw := range privateHosts {
		u, err := page.ParseURL(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if res := get(t, f, string(u)); res.Class != RefusedAddress || res.CountsAgainstHost() {
			t.Errorf("%s (%s): %v", raw, u, res.Cause)
		}
	}
}

// TestProxiedLiteralHostsAreRefused: with a proxy, what can be seen is refused too.
func TestProxiedLiteralHostsAreRefused(t *testing.T) {
	proxy, err := ParseProxy("http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	f := New(Options{Proxy: proxy, DialContext: unusedDial(t)})
	defer f.Close()
	for _, raw := range privateHosts {
		if res := get(t, f, string(page.MustParseURL(raw))); res.Class != RefusedAddress {
			t.Errorf("%s: %v", raw, res.Cause)
		}
	}
}

// TestNamesOfPrivateAddresses: what a name resolves to is checked.
func TestNamesOfPrivateAddresses(t *testing.T) {
	for _, addr := range []string{"127.0.0.1", "::1", "::ffff:10.0.0.1", "fd00::1", "169.254.169.254", "64:ff9b::7f00:1"} {
		for _, scheme := range []string{"http", "https"} {
			f := New(Options{Resolver: resolvesTo(addr), DialContext: unusedDial(t)})
			res := get(t, f, scheme+"://inside.test/")
			if res.Class != RefusedAddress || !strings.Contains(res.Fetch.Err, addr) {
				t.Errorf("%s at %s: %v", scheme, addr, res.Cause)
			}
			f.Close()
		}
	}
}

// TestMixedAddresses: of a name's addresses only the public ones are tried.
func TestMixedAddresses(t *testing.T) {
	s := serveRaw(t, answerWith("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	f := newFetcher(t, s.addr, func(o *Options) { o.Resolver = resolvesTo("127.0.0.1", "10.0.0.1", public.String(), "::1") })
	if res := get(t, f, "http://mixed.test/"); res.Class != OK || res.RemoteAddr != netip.AddrPortFrom(public, 80) {
		t.Errorf("%v from %v", res.Cause, res.RemoteAddr)
	}
}

// TestRebinding: a name that was public when it was first resolved gains nothing
// from it once it needs a new connection.
func TestRebinding(t *testing.T) {
	s := serveRaw(t, answerWith("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"))
	addrs := []string{public.String(), "127.0.0.1", public.String(), "::ffff:192.168.0.1"}
	lookups := 0
	f := newFetcher(t, s.addr, func(o *Options) {
		o.Resolver = resolverFunc(func(context.Context, string) ([]netip.Addr, error) {
			lookups++
			return []netip.Addr{netip.MustParseAddr(addrs[lookups-1])}, nil
		})
	})
	for i, want := range []Class{OK, RefusedAddress, OK, RefusedAddress} {
		if res := get(t, f, "http://rebind.test/"); res.Class != want {
			t.Errorf("fetch %d: %v, want %v", i+1, res.Cause, want)
		}
	}
	if _, conns := s.seen(); conns != 2 || lookups != 4 {
		t.Errorf("%d connections and %d lookups; want 2 and 4", conns, lookups)
	}
}

// TestControl: the socket itself refuses, whatever came before it.
func TestControl(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d := newDialer(&Options{})
	_, err = d.connect(context.Background(), "tcp", l.Addr().String())
	var f *failure
	if !errors.As(err, &f) || f.class != RefusedAddress {
		t.Errorf("connecting to loopback: %v", err)
	}
	d = newDialer(&Options{AllowPrivate: true})
	c, err := d.connect(context.Background(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// TestAllowPrivate fetches from loopback with the dialer that is used in earnest.
func TestAllowPrivate(t *testing.T) {
	s := serveRaw(t, answerWith("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	f := New(Options{AllowPrivate: true})
	defer f.Close()
	res := get(t, f, "http://"+s.addr+"/")
	if res.Class != OK || res.RemoteAddr.String() != s.addr {
		t.Errorf("%v from %v", res.Cause, res.RemoteAddr)
	}
}

func answerWith(response string) func(*net.TCPConn, string) bool {
	return func(c *net.TCPConn, _ string) bool {
		_, err := c.Write([]byte(response))
		return err == nil && !strings.Contains(response, "Connection: close")
	}
}

func unaskedResolver(t *testing.T) Resolver {
	return resolverFunc(func(_ context.Context, host string) ([]netip.Addr, error) {
		t.Errorf("%s was looked up", host)
		return nil, errors.New("no")
	})
}

func unusedDial(t *testing.T) func(context.Context, string, string) (net.Conn, error) {
	return func(_ context.Context, _, address string) (net.Conn, error) {
		t.Errorf("a connection to %s was made", address)
		return nil, errors.New("no")
	}
}
