package frontier

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/scope"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Config says how far a crawl goes. It is stored in the repository, so that every
// process that finds URLs later decides alike, with or without a crawler running.
type Config struct {
	Scope    string   `json:"scope"`     // page, host, domain or any
	MaxDepth int      `json:"max_depth"` // links from a seed; negative: no limit
	Include  []string `json:"include,omitempty"`
	Exclude  []string `json:"exclude,omitempty"`
	// MaxPagesPerHost is how many URLs of each host are visited; 0: no limit.
	MaxPagesPerHost int `json:"max_pages_per_host,omitempty"`
}

func (c Config) scope() scope.Config {
	kind, err := scope.ParseKind(c.Scope)
	if err != nil {
		kind = scope.Host // Validate has reported this
	}
	return scope.Config{Kind: kind, MaxDepth: max(c.MaxDepth, scope.NoMaxDepth), Include: c.Include, Exclude: c.Exclude}
}

// Validate checks the settings.
func (c Config) Validate() error {
	if _, err := scope.ParseKind(c.Scope); err != nil {
		return err
	}
	_, err := scope.New(c.scope(), []page.URL{"https://example.com/"})
	return err
}

// ReadConfig reads the stored settings and seeds. If there was never a crawl, ok is false.
// That includes a process that was killed between storing its settings and its first
// seeds: such a crawl has not begun.
func ReadConfig(ctx context.Context, db *txn.DB) (c Config, seeds []page.URL, ok bool, err error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return c, nil, false, err
	}
	defer tx.Rollback()
	if c, ok, err = storedConfig(ctx, tx); err != nil || !ok {
		return c, nil, false, err
	}
	seeds, err = readSeedsAt(ctx, tx)
	return c, seeds, c.begun(seeds), err
}

// begun reports whether a crawl with these settings has the seeds that it needs.
func (c Config) begun(seeds []page.URL) bool {
	return len(seeds) > 0 || c.scope().Kind == scope.Any
}

// storedConfig reads the stored settings. If there are none, ok is false.
func storedConfig(ctx context.Context, tx *txn.Txn) (c Config, ok bool, err error) {
	v, err := tx.Get(ctx, schema.AppRow, schema.CrawlConfig)
	if err != nil || !v.Exists {
		return c, false, err
	}
	if err := json.Unmarshal(v.Data, &c); err != nil {
		return c, false, fmt.Errorf("frontier: stored settings of the crawl: %w", err)
	}
	return c, true, nil
}

func readSeeds(ctx context.Context, db *txn.DB) (seeds []page.URL, err error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	return readSeedsAt(ctx, tx)
}

func readSeedsAt(ctx context.Context, tx *txn.Txn) (seeds []page.URL, err error) {
	err = tx.Scan(ctx, schema.GroupSeed, "", "", func(row string, _ []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		seeds = append(seeds, u)
		return err
	})
	return seeds, err
}

// Excluded are the decisions on the seeds that an exclude pattern matches: they are not
// fetched.
func (c Config) Excluded(seeds []page.URL) (map[page.URL]scope.Decision, error) {
	if len(c.Exclude) == 0 || len(seeds) == 0 {
		return nil, nil
	}
	s, err := scope.New(c.scope(), seeds)
	if err != nil {
		return nil, err
	}
	excluded := make(map[page.URL]scope.Decision)
	for _, u := range seeds {
		if d := s.Explain(u, 0); !d.OK {
			excluded[u] = d
		}
	}
	return excluded, nil
}

// storeSeeds stores seeds, even excluded ones: an excluded seed still determines the
// hosts of the crawl, and is fetched once it is no longer excluded.
func storeSeeds(ctx context.Context, db *txn.DB, seeds []page.URL) error {
	err := inChunks(ctx, db, seeds, func(tx *txn.Txn, u page.URL) error {
		tx.Set(schema.URLRow(u), schema.Seed, nil)
		return nil
	})
	if err != nil {
		return fmt.Errorf("frontier: store seeds: %w", err)
	}
	return nil
}

// queueSeeds queues the stored seeds that are not excluded, and lowers the depth of known
// ones to 0.
func queueSeeds(ctx context.Context, db *txn.DB, s *scope.Scope) error {
	seeds, err := readSeeds(ctx, db)
	if err != nil {
		return err
	}
	err = inChunks(ctx, db, seeds, func(tx *txn.Txn, u page.URL) error {
		if d := s.Explain(u, 0); !d.OK {
			return nil // if it waits, it lapses
		}
		return queueSeed(ctx, tx, u)
	})
	if err != nil {
		return fmt.Errorf("frontier: queue seeds: %w", err)
	}
	return nil
}

func inChunks(ctx context.Context, db *txn.DB, urls []page.URL, do func(*txn.Txn, page.URL) error) error {
	for chunk := range slices.Chunk(urls, addChunk) {
		_, err := db.Run(ctx, func(tx *txn.Txn) error {
			for _, u := range chunk {
				if err := do(tx, u); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func queueSeed(ctx context.Context, tx *txn.Txn, u page.URL) error {
	old, known, err := ReadEntry(ctx, tx, u)
	if err != nil {
		return err
	}
	if known {
		return seeded(tx, u, old)
	}
	put(tx, u, nil, schema.FrontierEntry{Source: "seeds", Note: "seed"})
	tx.Notify(crawler.HostOf(u), schema.HostReady)
	return nil
}

// seeded makes a seed of a URL that was known before: it moves to depth 0, its links are followed,
// and its parameters do not matter.
func seeded(tx *txn.Txn, u page.URL, old schema.FrontierEntry) error {
	if old.Depth == 0 && !old.Resource && !old.Lapsed {
		return nil
	}
	now := old
	now.Depth, now.Weight, now.Resource = 0, 0, false
	if old.Lapsed {
		resume(tx, u, now, "seed")
		tx.Notify(crawler.HostOf(u), schema.HostReady)
		return nil
	}
	put(tx, u, &old, now)
	if old.Visits > 0 {
		tx.Notify(schema.URLRow(u), schema.Discover)
	}
	return nil
}

// recheckPages wakes discover for every page and redirect, in chunks. A page whose links
// were partly added to the frontier starts over.
func recheckPages(ctx context.Context, db *txn.DB) error {
	const chunk = 500
	for from := ""; ; {
		next := ""
		_, err := db.Run(ctx, func(tx *txn.Txn) error {
			n := 0
			next = ""
			return tx.Scan(ctx, schema.GroupURL, from, "", func(row string, _ []txn.Version) error {
				if n == chunk {
					next = row
					return txn.ErrStop
				}
				n++
				return rediscover(ctx, tx, row)
			})
		})
		if err != nil {
			return fmt.Errorf("frontier: check known pages for links in scope: %w", err)
		}
		if next == "" {
			return nil
		}
		from = next
	}
}

// rediscover makes discover add all targets of a page from the first one, even if it
// has added a part of them.
func rediscover(ctx context.Context, tx *txn.Txn, row string) error {
	discovery, err := tx.Get(ctx, row, schema.Discovery)
	if err != nil {
		return err
	}
	if discovery.Exists {
		tx.Delete(row, schema.Discovery)
	}
	tx.Notify(row, schema.Discover)
	return nil
}
