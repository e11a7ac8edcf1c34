package frontier

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/webindexer/indexer/crawler/scope"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Crawl is what a process knows of the crawl in its repository: the rules that admit
// URLs, and the function to call when a host has something to fetch.
type Crawl struct {
	// Ranks order a host's new URLs, besides their depth. If nil, all rank alike. Set
	// it before Resume.
	Ranks Ranks

	rules atomic.Pointer[Rules]
	wake  atomic.Pointer[func(host string)]
}

// Resume loads the stored rules and returns the observers of a crawl. If the repository
// has no crawl, it returns none, unless begin says that one is about to start.
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

// Decide implements Decider. It rejects every URL until the rules are known; Begin then
// looks at everything again.
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
		return schema.NoRankState.Rank, nil
	}
	return c.Ranks(ctx, tx, u)
}

// Rules returns the rules in force, nil if there is no crawl.
func (c *Crawl) Rules() *Rules { return c.rules.Load() }

// Wake sets the function to call when a host has something to fetch.
func (c *Crawl) Wake(wake func(host string)) { c.wake.Store(&wake) }

func (c *Crawl) tell(host string) {
	if wake := c.wake.Load(); wake != nil {
		(*wake)(host)
	}
}

// Begin sets how far the crawl goes, adds seeds to those of earlier runs, and puts the
// resulting rules in force. If anything has changed, it looks at every known page
// again, for links that have come into scope.
//
// It deletes the settings first and stores them last: after a crash in between there
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
	if err := queueSeeds(ctx, db, c.Rules().Scope); err != nil {
		return err
	}
	if err := lookAgain(ctx, db); err != nil {
		return err
	}
	return keepConfig(ctx, db, data)
}

// takeUp puts the rules in force that follow from the settings and the stored seeds.
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

// keptness says how far settings and seeds equal the stored ones.
type keptness uint8

const (
	keptNot keptness = iota
	keptButLimit
	keptAll
)

// isKept compares settings and seeds with the stored ones.
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

// withoutLimit returns encoded settings without the limit of pages per host; nil if
// they cannot be read.
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
		return fmt.Errorf("frontier: store settings: %w", err)
	}
	return nil
}
