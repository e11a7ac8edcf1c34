package fetch

import (
	"context"
	"errors"
	"net/netip"
	"net/url"
	"testing"

	"indexer/page"
)

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
