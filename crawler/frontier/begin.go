package frontier

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Begin sets how far the crawl goes, adds seeds to those of earlier runs, and puts the
// resulting rules in force. If anything has changed, it queues all lapsed URLs again, and
// checks every known page again for links that have come into scope.
//
// The order matters, because other processes may find URLs meanwhile, and because this
// one may be killed anywhere:
//
//  1. The new settings are stored, with a mark that a crawl is beginning. After a crash
//     the mark remains, and the next Begin does everything again.
//  2. Begin stores the seeds, and then the marked settings again: the scope depends on
//     the seeds, and other processes read both when the cell of the settings changes
//     (follow).
//  3. Now every run of discover decides by the new rules, if its transaction begins from
//     now on. Those that began earlier are repeated: each known page is notified.
//  4. The mark is removed.
//
// One process begins at a time, the one whose token is in the mark. Others wait for it,
// and then usually find nothing to change.
func (c *Crawl) Begin(ctx context.Context, db *txn.DB, config Config, seeds []page.URL) error {
	data, err := json.Marshal(config)
	if err != nil {
		return fmt.Errorf("frontier: encode settings: %w", err)
	}
	mark, err := json.Marshal(storedForm{Config: config, Beginning: c.token()})
	if err != nil {
		return fmt.Errorf("frontier: encode settings: %w", err)
	}
	for {
		found, err := compareStored(ctx, db, data, seeds)
		if err != nil || found == same {
			return err
		}
		if found == sameButLimit { // the same URLs are taken
			if err := c.takeUp(ctx, db, config); err != nil {
				return err
			}
			if err := storeConfig(ctx, db, data); err != nil {
				return err
			}
			return c.wakeOthers(ctx, db)
		}
		marked, err := c.mark(ctx, db, mark)
		if err != nil {
			return err
		}
		if marked {
			return c.beginMarked(ctx, db, config, mark, data, seeds)
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// mark stores the marked settings, unless another process is beginning a crawl.
func (c *Crawl) mark(ctx context.Context, db *txn.DB, mark []byte) (marked bool, err error) {
	_, err = db.Run(ctx, func(tx *txn.Txn) error {
		marked = false
		v, err := tx.Get(ctx, schema.AppRow, schema.CrawlConfig)
		if err != nil {
			return err
		}
		var form storedForm
		if v.Exists && json.Unmarshal(v.Data, &form) == nil && form.Beginning != "" && c.isBeginning(ctx, form.Beginning) {
			return nil
		}
		marked = true
		tx.Set(schema.AppRow, schema.CrawlConfig, mark)
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("frontier: store settings: %w", err)
	}
	return marked, nil
}

// beginMarked is Begin after its first step.
func (c *Crawl) beginMarked(ctx context.Context, db *txn.DB, config Config, mark, data []byte, seeds []page.URL) error {
	if err := storeSeeds(ctx, db, seeds); err != nil {
		return err
	}
	if err := storeConfig(ctx, db, mark); err != nil {
		return err
	}
	if err := c.takeUp(ctx, db, config); err != nil {
		return err
	}
	if err := queueSeeds(ctx, db, c.Rules().Scope); err != nil {
		return err
	}
	if err := resumeAll(ctx, db); err != nil {
		return err
	}
	if err := recheckPages(ctx, db); err != nil {
		return err
	}
	if err := c.wakeOthers(ctx, db); err != nil {
		return err
	}
	return begun(ctx, db, mark, data)
}

// begun removes the mark, if it is ours: another process may have considered this one
// dead, and have begun a crawl with other settings.
func begun(ctx context.Context, db *txn.DB, mark, data []byte) error {
	ours := false
	_, err := db.Run(ctx, func(tx *txn.Txn) error {
		v, err := tx.Get(ctx, schema.AppRow, schema.CrawlConfig)
		if err != nil {
			return err
		}
		if ours = bytes.Equal(v.Data, mark); ours {
			tx.Set(schema.AppRow, schema.CrawlConfig, data)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("frontier: store settings: %w", err)
	}
	if !ours {
		return fmt.Errorf("frontier: another process has begun a crawl with other settings meanwhile; start this one again")
	}
	return nil
}

// storedForm is the form in which settings are stored.
type storedForm struct {
	Config
	// Beginning names the process that is beginning a crawl with these settings.
	Beginning string `json:"beginning,omitempty"`
}

// alone is the token of a process that has the table to itself.
const alone = "alone"

func (c *Crawl) token() string {
	if c.Liveness == nil {
		return alone
	}
	return c.Liveness.Token()
}

// isBeginning reports whether a process other than this one may be beginning a crawl.
// If that is unknown, it reports true.
func (c *Crawl) isBeginning(ctx context.Context, token string) bool {
	if c.Liveness == nil || token == alone || token == c.Liveness.Token() {
		return false
	}
	alive, err := c.Liveness.Alive(ctx, token)
	return err != nil || alive
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(200 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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

// comparison says how far settings and seeds equal the stored ones.
type comparison uint8

const (
	different    comparison = iota
	sameButLimit            // of pages per host
	same
)

// compareStored compares settings and seeds with the stored ones. Settings with a mark do not
// count.
func compareStored(ctx context.Context, db *txn.DB, config []byte, seeds []page.URL) (comparison, error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return different, err
	}
	defer tx.Rollback()
	stored, err := tx.Get(ctx, schema.AppRow, schema.CrawlConfig)
	if err != nil || !stored.Exists {
		return different, err
	}
	var form storedForm
	if json.Unmarshal(stored.Data, &form) == nil && form.Beginning != "" {
		return different, nil
	}
	found := same
	if !bytes.Equal(stored.Data, config) {
		if found = sameButLimit; !bytes.Equal(withoutLimit(stored.Data), withoutLimit(config)) {
			return different, nil
		}
	}
	for _, u := range seeds {
		v, err := tx.Get(ctx, schema.URLRow(u), schema.Seed)
		if err != nil || !v.Exists {
			return different, err
		}
	}
	return found, nil
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

func storeConfig(ctx context.Context, db *txn.DB, data []byte) error {
	_, err := db.Run(ctx, func(tx *txn.Txn) error {
		tx.Set(schema.AppRow, schema.CrawlConfig, data)
		return nil
	})
	if err != nil {
		return fmt.Errorf("frontier: store settings: %w", err)
	}
	return nil
}
