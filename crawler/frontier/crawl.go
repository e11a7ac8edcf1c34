package frontier

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/crawler/scope"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Crawl is what a process knows about the crawl in its repository: the rules that
// admit URLs, and the function to call when a host has something to fetch.
type Crawl struct {
	// Ranks order a host's new URLs, besides their depth. If nil, all rank alike. Set
	// it before Resume.
	Ranks Ranks

	// Liveness and Notify are set where several processes share the table. Notify leaves a
	// message to whichever crawler asks a host. Set both before Resume.
	Liveness txn.Liveness
	Notify   func(ctx context.Context, tx *txn.Txn, host string) error

	rules  atomic.Pointer[Rules]
	wake   atomic.Pointer[func(host string)]
	follow sync.Mutex // held while new rules are read
	db     *txn.DB
}

// Resume loads the stored rules and returns the observers of a crawl. If the repository
// has no crawl, it returns none, unless begin says that one is starting.
func (c *Crawl) Resume(ctx context.Context, db *txn.DB, begin bool) ([]notify.Observer, error) {
	c.db = db
	config, seeds, ok, err := ReadConfig(ctx, db)
	if err != nil || !ok && !begin {
		return nil, err
	}
	if ok {
		rules, err := NewRules(db, config, seeds)
		if err != nil {
			return nil, err
		}
		c.rules.Store(rules)
	}
	return Observers(c, c.ready), nil
}

var noCrawl = scope.Decision{Rule: "crawl.none", Why: "there is no crawl in this repository"}

// Decide implements Decider. It rejects every URL until the rules are known; Begin then
// has discover look at everything again.
func (c *Crawl) Decide(ctx context.Context, u page.URL, depth int) (scope.Decision, error) {
	if r := c.rules.Load(); r != nil {
		return r.Decide(ctx, u, depth)
	}
	return noCrawl, nil
}

// DecideResource implements Decider.
func (c *Crawl) DecideResource(ctx context.Context, u page.URL) (scope.Decision, error) {
	if r := c.rules.Load(); r != nil {
		return r.DecideResource(ctx, u)
	}
	return noCrawl, nil
}

// Accepts implements Decider.
func (c *Crawl) Accepts(u page.URL, depth int, resource bool) (scope.Decision, bool) {
	if r := c.rules.Load(); r != nil {
		return r.Accepts(u, depth, resource)
	}
	return scope.Decision{}, true
}

// PagesPerHost implements Decider.
func (c *Crawl) PagesPerHost() int {
	if r := c.rules.Load(); r != nil {
		return r.PagesPerHost
	}
	return 0
}

// Rank implements Decider.
func (c *Crawl) Rank(ctx context.Context, tx *txn.Txn, u page.URL) (float64, error) {
	if c.Ranks == nil {
		return schema.NoRankState.Rank, nil
	}
	return c.Ranks(ctx, tx, u)
}

// Rules returns the rules in force, nil if there is no crawl.
func (c *Crawl) Rules() *Rules { return c.rules.Load() }

// Wake sets the function to call when a host has something to fetch.
func (c *Crawl) Wake(wake func(host string)) { c.wake.Store(&wake) }

// ready tells the crawler about a host that has something to fetch.
func (c *Crawl) ready(ctx context.Context, tx *txn.Txn, host string) error {
	if c.Notify != nil {
		return c.Notify(ctx, tx, host)
	}
	if wake := c.wake.Load(); wake != nil {
		(*wake)(host)
	}
	return nil
}

// Divided reports whether several processes may crawl.
func (c *Crawl) Divided() bool { return c.Liveness != nil }

// Follow implements Decider. Other processes may change the settings, and then store
// them anew. The version of their cell tells which rules are the newer ones: a
// transaction with an older snapshot does not take back what another one has taken up.
func (c *Crawl) Follow(ctx context.Context, tx *txn.Txn) (crawling bool, err error) {
	if c.Liveness == nil {
		return true, nil
	}
	v, err := tx.Get(ctx, schema.AppRow, schema.CrawlConfig)
	if err != nil || !v.Exists || c.has(v.TS) {
		return v.Exists, err
	}
	c.follow.Lock()
	defer c.follow.Unlock()
	if c.has(v.TS) {
		return true, nil
	}
	config, _, err := storedConfig(ctx, tx)
	if err != nil {
		return false, err
	}
	seeds, err := readSeedsAt(ctx, tx)
	if err != nil || !config.begun(seeds) {
		return false, err
	}
	rules, err := NewRules(c.db, config, seeds)
	if err != nil {
		return false, err
	}
	rules.version = v.TS
	c.rules.Store(rules)
	return true, nil
}

func (c *Crawl) has(version uint64) bool {
	r := c.rules.Load()
	return r != nil && r.version >= version
}
