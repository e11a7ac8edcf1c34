package frontier

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/internal/humanize"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// A crawl may have a limit of pages per host (Config.MaxPagesPerHost): it visits that
// many URLs of each host for the first time, whatever the outcome. The rest stays in
// the queue until the limit is raised. Pages that were visited are still revisited, and
// URLs asked for by name are still visited.
//
// The visit's transaction counts the page, even where there is no limit, because one
// may be set later. A data directory of an older program has no number: the host's next
// first visit counts its entries.

// Room implements crawler.Frontier.
func (f *Frontier) Room(ctx context.Context, host string) (int, error) {
	limit := f.rules.PagesPerHost()
	if limit <= 0 {
		return -1, nil
	}
	tx, err := f.db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	return room(ctx, tx, host, limit)
}

// room returns how many URLs of a host may still be visited for the first time; -1 for
// any number.
func room(ctx context.Context, tx *txn.Txn, host string, limit int) (int, error) {
	if limit <= 0 {
		return -1, nil
	}
	n, err := pagesOf(ctx, tx, host)
	if err != nil {
		return 0, fmt.Errorf("frontier: count the pages of %s: %w", host, err)
	}
	return max(limit-n, 0), nil
}

// wakeOthers has other crawlers, which may be at work, look at all queues again: the limit may have
// been raised. A crawler that begins looks at them anyway.
func (c *Crawl) wakeOthers(ctx context.Context, db *txn.DB) error {
	if !c.Divided() {
		return nil
	}
	f := Frontier{db: db}
	for after := ""; ; {
		hosts, err := f.Hosts(ctx, after, addChunk)
		if err != nil || len(hosts) == 0 {
			return err
		}
		_, err = db.Run(ctx, func(tx *txn.Txn) error {
			for _, host := range hosts {
				tx.Notify(host, schema.HostReady)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("frontier: wake the other crawlers: %w", err)
		}
		after = hosts[len(hosts)-1]
	}
}

// pagesOf returns how many URLs of a host were visited.
func pagesOf(ctx context.Context, tx *txn.Txn, host string) (int, error) {
	v, err := tx.Get(ctx, host, schema.HostPages)
	if err != nil {
		return 0, err
	}
	if !v.Exists {
		return countPages(ctx, tx, host)
	}
	n, err := strconv.Atoi(string(v.Data))
	if err != nil {
		return 0, fmt.Errorf("number of pages %q: %w", v.Data, store.ErrCorrupt)
	}
	return n, nil
}

// countPages counts the visited URLs from their entries.
func countPages(ctx context.Context, tx *txn.Txn, host string) (n int, err error) {
	root, err := page.ParseURL(host + "/")
	if err != nil {
		return 0, err
	}
	err = tx.ScanPrefix(ctx, schema.GroupFrontier, root.SiteKey(), func(row string, _ []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil || crawler.HostOf(u) != host {
			return err
		}
		e, _, err := ReadEntry(ctx, tx, u)
		if e.Visits > 0 {
			n++
		}
		return err
	})
	return n, err
}

// hostLocks serialise the counting of the first visits of a host.
//
// All of them change one cell, the host's number, so only one of several concurrent
// transactions can commit, and the others start over: with 32 requests at a time to one
// host, there were 84 % more transactions than visits. Waiting before the transaction
// begins costs nothing. The locks only save work; the transactions keep the number right.
//
// Hosts share a fixed number of locks. A visit holds no more than one.
type hostLocks [256]sync.Mutex

func (l *hostLocks) lock(host string) (unlock func()) {
	mu := &l[xxhash.Sum64String(host)%uint64(len(l))]
	mu.Lock()
	return mu.Unlock
}

// countVisit counts the first visit of a URL, whose entry is not written yet.
func countVisit(ctx context.Context, tx *txn.Txn, host string) error {
	n, err := pagesOf(ctx, tx, host)
	if err != nil {
		return fmt.Errorf("count the pages of %s: %w", host, err)
	}
	tx.Set(host, schema.HostPages, strconv.AppendInt(nil, int64(n)+1, 10))
	return nil
}

// beyondLimit says that a new URL waits because its host has had its pages; "" if that
// is not the reason.
func beyondLimit(ctx context.Context, tx *txn.Txn, u page.URL, e schema.FrontierEntry, limit int) (string, error) {
	if !waitsForFirst(&e) {
		return "", nil
	}
	n, err := room(ctx, tx, crawler.HostOf(u), limit)
	if err != nil || n != 0 {
		return "", err
	}
	return "its host has had its " + humanize.Count(limit, "page") + " (--max-pages-per-host); with a higher limit, it is fetched", nil
}
