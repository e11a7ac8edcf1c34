package scope

import (
	"container/list"
	"context"
	"sync"
)

// siteCache keeps the counts of the most recently used sites, and rebuilds those of
// other sites from the URLs taken there.
type siteCache struct {
	limit int
	taken Taken // nil: no URL was taken before

	mu    sync.Mutex // guards the two fields below, held briefly
	sites map[string]*list.Element
	order list.List // of *site, most recently used first
}

// site is the counts of one site. A goroutine whose site was dropped from the cache
// finishes with it; Taken later returns what it added.
type site struct {
	name   string
	counts queryCounts
	built  bool
	turn   chan struct{} // holds a token, which gives access to counts and built
}

func newSiteCache(limit int, taken Taken) *siteCache {
	return &siteCache{limit: limit, taken: taken, sites: make(map[string]*list.Element)}
}

// with calls f with the counts of a site, one call at a time for each site. Rebuilding
// delays only its own site.
func (c *siteCache) with(ctx context.Context, name string, f func(*queryCounts)) error {
	s := c.get(name)
	select {
	case <-s.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.turn <- struct{}{} }()
	if err := c.build(ctx, s); err != nil {
		return err
	}
	f(&s.counts)
	return nil
}

func (c *siteCache) get(name string) *site {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.sites[name]; ok {
		c.order.MoveToFront(e)
		return e.Value.(*site)
	}
	s := &site{name: name, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	c.sites[name] = c.order.PushFront(s)
	if c.order.Len() > c.limit {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.sites, oldest.Value.(*site).name)
	}
	return s
}

// build counts what was taken. After an error the next use starts over: counting a URL
// twice changes nothing.
func (c *siteCache) build(ctx context.Context, s *site) error {
	if s.built {
		return nil
	}
	if c.taken != nil {
		for u, err := range c.taken(ctx, s.name) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if query := u.Query(); query != "" {
				s.counts.add(keyOf(u.Path(), query))
			}
		}
	}
	s.built = true
	return nil
}
