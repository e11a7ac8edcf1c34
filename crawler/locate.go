package crawler

import (
	"context"
	"net/netip"

	"indexer/page"
)

// Locator is a Fetcher that knows beforehand which server it is going to ask. Hosts
// that share an address are kept apart from their first requests on, then; with
// another Fetcher, from the end of their first exchanges.
type Locator interface {
	// Locate gives the address that a request for u would go to. It may ask a name
	// server, and be wrong: the address of the exchange is what counts then.
	Locate(ctx context.Context, u page.URL) (netip.Addr, error)
}

// locate is the address of a host that was never asked; the zero address if it cannot
// be found out, of which the request will give the reason.
func (c *Crawler) locate(ctx context.Context, key string) netip.Addr {
	l, ok := c.fetcher.(Locator)
	u, err := page.ParseURL(key + "/")
	if !ok || err != nil || c.opts.Politeness.PerIP <= 0 {
		return netip.Addr{}
	}
	addr, err := l.Locate(ctx, u)
	if err != nil {
		return netip.Addr{}
	}
	return addr
}
