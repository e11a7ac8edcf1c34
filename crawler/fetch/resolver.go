package fetch

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/webindexer/indexer/page"
)

// Resolver finds the addresses of a host name; *net.Resolver is one. The network is
// "ip", for both families.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// CacheOptions are the settings of a CachingResolver. A zero value means the default.
type CacheOptions struct {
	// TTL is how long addresses are kept; default 5 min. It is the same for all names:
	// Go's resolver does not return the TTLs of the records.
	TTL time.Duration
	// NegativeTTL is how long a failure is kept; default 30 s.
	NegativeTTL time.Duration
	// MaxNames bounds the cache; beyond it the least recently used name is dropped.
	// Default 10,000.
	MaxNames int
	// MaxLookups bounds the concurrent lookups; more have to wait. Default 16.
	MaxLookups int
}

// CachingResolver caches the answers of another resolver. It asks once at a time for
// each name, and for few names at a time. It starts no goroutines.
type CachingResolver struct {
	upstream Resolver
	opts     CacheOptions
	slots    chan struct{} // one for each lookup under way

	mu    sync.Mutex
	names map[string]*list.Element // of *answer
	order list.List                // most recently used first
}

// answer is what is known about a name. Until done is closed, only the goroutine that
// created it may access it; from then on it does not change.
type answer struct {
	name    string
	done    chan struct{}
	addrs   []netip.Addr
	err     error
	dropped bool // the goroutine gave up: ask again
	until   time.Time
}

// NewCachingResolver returns a CachingResolver in front of upstream.
func NewCachingResolver(upstream Resolver, o CacheOptions) *CachingResolver {
	o.TTL = cmp.Or(o.TTL, 5*time.Minute)
	o.NegativeTTL = cmp.Or(o.NegativeTTL, 30*time.Second)
	o.MaxNames = cmp.Or(o.MaxNames, 10_000)
	o.MaxLookups = cmp.Or(o.MaxLookups, 16)
	return &CachingResolver{
		upstream: upstream, opts: o,
		slots: make(chan struct{}, o.MaxLookups),
		names: make(map[string]*list.Element),
	}
}

// LookupNetIP returns the addresses of host, which the caller must not change. The
// error is upstream's, possibly cached, or ctx's.
func (r *CachingResolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	for {
		a, mine := r.answer(network + " " + host)
		if mine {
			r.ask(ctx, a, network, host)
			return a.addrs, a.err
		}
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !a.dropped {
			return a.addrs, a.err
		}
	}
}

// answer returns what is known about a name. If mine is true, nothing is, and the
// caller must fill it.
func (r *CachingResolver) answer(name string) (a *answer, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.names[name]; ok {
		a := e.Value.(*answer)
		if !a.isOver(time.Now()) {
			r.order.MoveToFront(e)
			return a, false
		}
		r.remove(e)
	}
	a = &answer{name: name, done: make(chan struct{})}
	r.names[name] = r.order.PushFront(a)
	if r.order.Len() > r.opts.MaxNames {
		r.remove(r.order.Back()) // goroutines that wait for it still have it
	}
	return a, true
}

// isOver reports whether a has expired or was dropped.
func (a *answer) isOver(now time.Time) bool {
	select {
	case <-a.done:
		return a.dropped || !now.Before(a.until)
	default:
		return false
	}
}

func (r *CachingResolver) remove(e *list.Element) {
	r.order.Remove(e)
	delete(r.names, e.Value.(*answer).name)
}

// ask fills a. If the caller gave up, or its time was over before the lookup started,
// then nothing was learned: the answer is dropped, and goroutines that wait for it ask
// again, each with its own context.
func (r *CachingResolver) ask(ctx context.Context, a *answer, network, host string) {
	defer close(a.done)
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
		a.addrs, a.err = r.upstream.LookupNetIP(ctx, network, host)
	case <-ctx.Done():
		a.err, a.dropped = ctx.Err(), true
		return
	}
	ttl := r.opts.TTL
	if a.err != nil {
		ttl = r.opts.NegativeTTL
		a.dropped = errors.Is(ctx.Err(), context.Canceled)
	}
	a.until = time.Now().Add(ttl)
}

// Locate returns the first address that a request for u would connect to, from the
// resolver that connections use; the zero address if a proxy makes them. It sends
// nothing to the host. The error is the one that Fetch would fail with.
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
