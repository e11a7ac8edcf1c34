package fetch

import (
	"context"
	"net/netip"

	"indexer/page"
)

// Locate returns the first of the addresses that a request for u would be made to,
// by the resolver that connections use; the zero address if a proxy makes them.
// Nothing is sent to the host. The error is that of a Fetch that gets no further.
func (f *Fetcher) Locate(ctx context.Context, u page.URL) (netip.Addr, error) {
	if f.opts.Proxy != nil {
		return netip.Addr{}, nil
	}
	addrs, err := f.dialer.resolve(ctx, u.Host())
	if err != nil {
		return netip.Addr{}, err
	}
	return addrs[0], nil
}
