package crawltest

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// nowhere is a loopback port without a listener for the whole test: it is the local end
// of a connection.
func nowhere(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.LocalAddr().String()
}

// noNames knows addresses only.
type noNames struct{}

func (noNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// TestUnreached: a crawl that has nothing else to do ends although hosts of its seeds
// refuse or have no address, and names these hosts. Reachable hosts are crawled; the
// rest stay due.
func TestUnreached(t *testing.T) {
	t.Parallel()
	refuses := "http://" + nowhere(t)
	typo := "http://misspelt.invalid"
	w := Serve(t, plainPages("there.ip114", 5))
	for _, c := range []struct {
		name  string
		seeds []page.URL
		pages int
	}{
		{"alone", nil, 0},
		{"beside others", []page.URL{w.URL("http://there.ip114/p/1")}, 5},
	} {
		s := NewSetting(t.TempDir(), time.Millisecond, append(c.seeds, page.MustParseURL(refuses+"/"), page.MustParseURL(typo+"/"))...)
		s.Options.MaxWait = time.Hour // none of it is used
		s.Fetch.Resolver = noNames{}
		session := openCrawl(t, s)
		for range 2 {
			if err := session.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			var hosts []string
			for _, u := range session.Status.Unreached {
				hosts = append(hosts, u.Host+" "+u.Why)
			}
			want := []string{refuses + " connect: the connection was refused", typo + " dns: the host's name has no address"}
			if !slices.Equal(hosts, want) {
				t.Errorf("%s: not reached are %q, want %q", c.name, hosts, want)
			}
		}
		closeCrawl(t, session)
		if n := len(w.Counts()); n != c.pages {
			t.Errorf("%s: %d pages were requested, want %d", c.name, n, c.pages)
		}
	}
}

// TestDropped: a connection that closes without an answer is a failure like any other,
// after which the host is left alone. It must not be asked again at once.
func TestDropped(t *testing.T) {
	t.Parallel()
	const delay = 10 * time.Millisecond
	w := Serve(t, `
-- 2024-01-01 http://drop.ip70/ --
<title>Start</title><p>This page leads to one that is never answered, by a server that closes the connection: <a href="/drop">drop</a>.
-- 2024-01-01 http://drop.ip70/drop --
X-Expect: 2
X-Serve: drop
`)
	crawlOnce(t, NewSetting(t.TempDir(), delay, w.URL("http://drop.ip70/")))
	w.CheckCounts(t, w.Expected(t))
	w.CheckPoliteness(t, delay)
}
