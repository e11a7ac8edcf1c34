package frontier

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"indexer/crawler/scope"
	"indexer/notify"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Crawl is what a process knows of the crawl in its repository: the rules by
// which URLs are taken, and whom to tell of hosts with something to fetch.
type Crawl struct {
	// Ranks order the new URLs of a host, besides their depth; nil: they are all alike.
	// To be set before Resume.
	Ranks Ranks

	rules atomic.Pointer[Rules]
	wake  atomic.Pointer[func(host string)]
}

// Resume takes up the rules that are kept, and returns the observers of a crawl.
// Without a crawl in the repository there are none, unless begin says that there
// is going to be one.
func (c *Crawl) Resume(ctx context.Context, db *txn.DB, begin bool) ([]notify.Observer, error) {
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
	return Observers(c, c.tell), nil
}

// Decide implements Decider. Before the rules are known nothing is taken; Begin
// looks at everything again once they are.
func (c *Crawl) Decide(ctx context.Context, u page.URL, depth int) (scope.Decision, error) {
	if r := c.rules.Load(); r != nil {
		return r.Decide(ctx, u, depth)
	}
	return scope.Decision{Rule: "crawl.none", Why: "there is no crawl in this repository"}, nil
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
		return schema.NoMass.Rank, nil
	}
	return c.Ranks(ctx, tx, u)
}

// Rules are the rules in force, nil if there is no crawl.
func (c *Crawl) Rules() *Rules { return c.rules.Load() }

// Wake sets whom to tell of hosts that have got something to fetch.
func (c *Crawl) Wake(wake func(host string)) { c.wake.Store(&wake) }

func (c *Crawl) tell(host string) {
	if wake := c.wake.Load(); wake != nil {
		(*wake)(host)
	}
}

// Begin sets how far the crawl goes, adds seeds to those of earlier runs, and
// takes up the rules that follow. If anything has changed, every page that is
// known is looked at again, for links that have come into scope.
//
// The settings are taken out first and kept last: after a crash in between there
// are none, and the next Begin does everything again.
func (c *Crawl) Begin(ctx context.Context, db *txn.DB, config Config, seeds []page.URL) error {
	data, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("frontier: encode settings: %w", err)
	}
	kept, err := isKept(ctx, db, data, seeds)
	if err != nil || kept == keptAll {
		return err
	}
	if kept == keptButLimit { // the same URLs are taken
		if err := c.takeUp(ctx, db, config); err != nil {
			return err
		}
		return keepConfig(ctx, db, data)
	}
	if err := keepConfig(ctx, db, nil); err != nil {
		return err
	}
	if err := keepSeeds(ctx, db, seeds); err != nil {
		return err
	}
	if err := c.takeUp(ctx, db, config); err != nil {
		return err
	}
	if err := lookAgain(ctx, db); err != nil {
		return err
	}
	return keepConfig(ctx, db, data)
}

// takeUp puts the rules in force that follow from settings and the kept seeds.
func (c *Crawl) takeUp(ctx context.Context, db *txn.DB, config Config) error {
	all, err := readSeeds(ctx, db)
	if err != nil {
		return err
	}
	rules, err := NewRules(db, config, all)
	if err == nil {
		c.rules.Store(rules)
	}
	return err
}

// keptness is how far settings and seeds are those that are kept.
type keptness uint8

const (
	keptNot keptness = iota
	keptButLimit
	keptAll
)

// isKept compares settings and seeds with those that are kept.
func isKept(ctx context.Context, db *txn.DB, config []byte, seeds []page.URL) (keptness, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return keptNot, err
	}
	defer tx.Rollback()
	kept, err := tx.Get(ctx, schema.AppRow, schema.CrawlConfig)
	if err != nil || !kept.Exists {
		return keptNot, err
	}
	same := keptAll
	if !bytes.Equal(kept.Data, config) {
		if same = keptButLimit; !bytes.Equal(withoutLimit(kept.Data), withoutLimit(config)) {
			return keptNot, nil
		}
	}
	for _, u := range seeds {
		v, err := tx.Get(ctx, schema.URLRow(u), schema.Seed)
		if err != nil || !v.Exists {
			return keptNot, err
		}
	}
	return same, nil
}

// withoutLimit is encoded settings without the limit of pages per host; nil if they
// cannot be read.
func withoutLimit(data []byte) []byte {
	var c Config
	if json.Unmarshal(data, &c) != nil {
		return nil
	}
	c.MaxPagesPerHost = 0
	b, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	return b
}

func keepConfig(ctx context.Context, db *txn.DB, data []byte) error {
	_, err := db.Run(ctx, func(tx *txn.Txn) error {
		if data == nil {
			tx.Delete(schema.AppRow, schema.CrawlConfig)
		} else {
			tx.Set(schema.AppRow, schema.CrawlConfig, data)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("frontier: keep settings: %w", err)
	}
	return nil
}
