package crawltest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// privateHosts are spellings of 127.0.0.85, and other addresses of this machine.
var privateHosts = []string{
	"127.0.0.85", "2130706517", "0x7f000055", "0177.0.0.85", "127.85", "[::ffff:127.0.0.85]", "[::ffff:7f00:55]",
	"[64:ff9b::7f00:55]", "[2002:7f00:55::1]", "localhost", "a.localhost", "0.0.0.0", "[::]", "[::1]",
}

const secretPage = "-- 2024-01-01 http://secret.ip85/ --\n<title>Secret</title><p>Only this machine may read this page, and whoever crawls on it must not.\n"

// TestRefusedSeeds: without AllowPrivate nothing on loopback is requested, however the
// host is written.
func TestRefusedSeeds(t *testing.T) {
	t.Parallel()
	w := Serve(t, secretPage)
	s := NewSetting(t.TempDir(), time.Millisecond)
	s.Fetch.AllowPrivate, s.WARC = false, ""
	for _, host := range privateHosts {
		s.Seeds = append(s.Seeds, at(t, host, w.URL("http://secret.ip85/").Port()))
	}
	if docs, _ := crawlOnce(t, s); len(docs) > 0 || len(w.Log()) > 0 {
		t.Errorf("%d documents, %d requests", len(docs), len(w.Log()))
	}
}

// TestRefusedHops: a public host links and redirects to each of these spellings, and to
// a name that was public when first resolved and is private after that. Only the public
// address is asked; no connection goes anywhere else.
func TestRefusedHops(t *testing.T) {
	t.Parallel()
	public := netip.MustParseAddr("93.184.215.14")
	w := Serve(t, strings.ReplaceAll(secretPage, "ip85", "ip86")+"-- 2024-01-01 http://public.ip87/ --\n<p>replaced")
	secret := w.URL("http://secret.ip86/").Port()
	targets := append([]string{"rebind.test"}, privateHosts...)
	front := w.hosts["public.ip87"]
	front.answer = func(path string) *page.Fetch {
		var n int
		if _, err := fmt.Sscanf(path, "/to/%d", &n); err == nil && n < len(targets) {
			return &page.Fetch{Status: http.StatusFound, Header: http.Header{"Location": {"http://" + targets[n] + ":" + secret + "/"}}}
		}
		if path != "/" {
			return nil
		}
		var b strings.Builder
		b.WriteString("<title>Public</title><p>This page leads to many spellings of one private host, by links and by redirects:")
		for i, host := range targets {
			fmt.Fprintf(&b, `<a href="/to/%d">x</a> <a href="http://%s:%s/linked">x</a>`, i, host, secret)
		}
		return &page.Fetch{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(b.String())}
	}

	s := NewSetting(t.TempDir(), time.Millisecond, "http://public.test/")
	s.Config.Scope, s.WARC = "any", ""
	s.Fetch.AllowPrivate, s.Fetch.MaxIdlePerHost = false, -1 // each request needs a connection
	var lookups atomic.Int64
	s.Fetch.Resolver = lookup(func(host string) netip.Addr {
		if host == "rebind.test" && lookups.Add(1) > 1 {
			return netip.MustParseAddr("127.0.0.86")
		}
		return public
	})
	s.Fetch.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if fetch.RefuseAddress(netip.MustParseAddrPort(address).Addr()) != "" {
			t.Errorf("a connection to %s was made", address)
			return nil, errors.New("no")
		}
		return new(net.Dialer).DialContext(ctx, network, front.address)
	}
	crawlOnce(t, s)
	counts := w.Counts()
	for i := range targets {
		if name := fmt.Sprintf("public.ip87/to/%d", i); counts[name] != 1 {
			t.Errorf("%s was requested %d times", name, counts[name])
		}
	}
	if len(counts) != len(targets)+1 {
		t.Errorf("requests: %v", counts)
	}
	if lookups.Load() < 2 {
		t.Error("the name was not resolved again")
	}
}

// lookup is a function as a resolver.
type lookup func(host string) netip.Addr

func (f lookup) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return []netip.Addr{f(host)}, nil
}

func at(t testing.TB, host, port string) page.URL {
	t.Helper()
	u, err := page.ParseURL("http://" + host + ":" + port + "/")
	if err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	return u
}
