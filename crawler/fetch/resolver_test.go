package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/webindexer/indexer/page"
)

// countingResolver takes a second for each lookup and knows names by their form:
// "none" has no address, "broken" fails, others have one.
type countingResolver struct {
	mu        sync.Mutex
	asked     map[string]int
	under, at int // lookups under way, and the most there were
}

func (r *countingResolver) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	r.mu.Lock()
	if r.asked == nil {
		r.asked = make(map[string]int)
	}
	r.asked[host]++
	r.under++
	r.at = max(r.at, r.under)
	r.mu.Unlock()
	defer func() { r.mu.Lock(); r.under--; r.mu.Unlock() }()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case strings.HasPrefix(host, "none"):
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	case strings.HasPrefix(host, "broken"):
		return nil, &net.DNSError{Err: "server misbehaving", Name: host, IsTemporary: true}
	}
	return []netip.Addr{public}, nil
}

// TestCachingResolver replays a schedule in virtual time: "at 10s NAME" looks a name
// up, and the output shows the time of the answer and how often the upstream was asked.
func TestCachingResolver(t *testing.T) {
	datadriven.RunTest(t, "testdata/resolver", func(t *testing.T, d *datadriven.TestData) string {
		o := CacheOptions{TTL: time.Minute, NegativeTTL: 10 * time.Second}
		d.MaybeScanArgs(t, "names", &o.MaxNames)
		d.MaybeScanArgs(t, "lookups", &o.MaxLookups)
		lines := strings.Split(d.Input, "\n")
		var upstream countingResolver
		synctest.Test(t, func(t *testing.T) {
			r := NewCachingResolver(&upstream, o)
			start := time.Now()
			var wg sync.WaitGroup
			for i, line := range lines {
				var at, give time.Duration
				var host string
				scan(t, line, &at, &host, &give)
				wg.Go(func() {
					time.Sleep(at + time.Duration(i)) // in the order of the lines
					ctx := context.Background()
					if give > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithCancel(ctx)
						time.AfterFunc(give, cancel)
					}
					addrs, err := r.LookupNetIP(ctx, "ip", host)
					lines[i] += fmt.Sprintf(" -> %v", time.Since(start).Round(time.Millisecond))
					if err != nil {
						lines[i] += " " + err.Error()
					} else {
						lines[i] += fmt.Sprint(" ", addrs)
					}
				})
			}
			wg.Wait()
			if len(r.names) != r.order.Len() || r.order.Len() > r.opts.MaxNames {
				t.Errorf("%d names in %d entries", len(r.names), r.order.Len())
			}
		})
		return fmt.Sprintf("%s\nasked: %v, at most %d at a time\n", strings.Join(lines, "\n"), upstream.asked, upstream.at)
	})
}

// scan reads "TIME NAME" and an optional "gives up after TIME".
func scan(t *testing.T, line string, at *time.Duration, host *string, give *time.Duration) {
	fields := strings.Fields(line)
	var err, err2 error
	*at, err = time.ParseDuration(fields[0])
	*host = fields[1]
	if len(fields) > 2 {
		*give, err2 = time.ParseDuration(fields[len(fields)-1])
	}
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
}

// TestDNSFailures checks the handling of a resolver's errors.
func TestDNSFailures(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, "dns: the host's name has no address"},
		{&net.DNSError{IsNotFound: true}, "dns: the host's name has no address"},
		{&net.DNSError{IsTemporary: true}, "dns: the host's name cannot be resolved"},
		{&net.DNSError{IsTimeout: true}, "dns: no answer in time for the host's name"},
		{errors.New("odd"), "dns: the host's name cannot be resolved"},
	} {
		f := New(Options{DialContext: unusedDial(t), Resolver: resolverFunc(func(context.Context, string) ([]netip.Addr, error) {
			return nil, c.err
		})})
		res := get(t, f, "http://h.test/")
		if res.Fetch.Err != c.want || res.Class != DNS || !res.CountsAgainstHost() || c.err != nil && !errors.Is(res.Cause, c.err) {
			t.Errorf("%v: %q (%v), want %q", c.err, res.Fetch.Err, res.Cause, c.want)
		}
		f.Close()
	}
}

// names is a Resolver of a few names.
type names map[string][]netip.Addr

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := n[host]; ok {
		return a, nil
	}
	return nil, errors.New("no such host")
}

// Locate gives the address that a fetch would connect to first, and nothing for one
// that would not connect.
func TestLocate(t *testing.T) {
	public, private := netip.MustParseAddr("192.0.1.1"), netip.MustParseAddr("10.0.0.1")
	mapped := netip.MustParseAddr("::ffff:192.0.1.1")
	n := names{"two.example": {private, public}, "private.example": {private}, "mapped.example": {mapped}}
	proxy := &url.URL{Scheme: "http", Host: "proxy.example:3128"}
	for _, tt := range []struct {
		name string
		o    Options
		url  string
		want netip.Addr
		ok   bool
	}{
		{"the first that may be contacted", Options{Resolver: n}, "https://two.example/", public, true},
		{"private", Options{Resolver: n}, "https://private.example/", netip.Addr{}, false},
		{"private allowed", Options{Resolver: n, AllowPrivate: true}, "https://two.example:8443/x", private, true},
		{"mapped", Options{Resolver: n}, "http://mapped.example/", public, true},
		{"an address", Options{Resolver: n}, "http://192.0.1.1/", public, true},
		{"unknown", Options{Resolver: n}, "http://none.example/", netip.Addr{}, false},
		{"by proxy", Options{Resolver: n, Proxy: proxy}, "http://none.example/", netip.Addr{}, true},
	} {
		f := New(tt.o)
		got, err := f.Locate(t.Context(), page.MustParseURL(tt.url))
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s: %v, %v", tt.name, got, err)
		}
		f.Close()
	}
}
