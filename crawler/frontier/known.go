package frontier

import (
	"context"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Known implements crawler.Frontier. It reads a range of entries. URLs that need no
// more visits, and URLs of the same name with another scheme or port, are skipped and
// count as read.
func (f *Frontier) Known(ctx context.Context, host string, after page.URL, n int) (list []crawler.Known, last page.URL, err error) {
	root, err := page.ParseURL(host + "/")
	if err != nil {
		return nil, "", fmt.Errorf("frontier: host %q: %w", host, err)
	}
	tx, err := f.db.Begin(ctx)
	if err != nil {
		return nil, "", err
	}
	defer tx.Rollback()
	from, end := root.SiteKey(), txn.PrefixEnd(root.SiteKey())
	if after != "" {
		from = schema.URLRow(after) + "\x00"
	}
	read := 0
	err = tx.Scan(ctx, schema.GroupFrontier, from, end, func(row string, _ []txn.Version) error {
		if read == n {
			return txn.ErrStop
		}
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		read++
		last = u
		if crawler.HostOf(u) != host {
			return nil // the same name with another scheme or port
		}
		e, known, err := ReadEntry(ctx, tx, u)
		if err != nil || !known || e.State == schema.EntryDone || e.Lapsed {
			return err
		}
		list = append(list, crawler.Known{Job: jobOf(u, e), Refused: e.IsRefused()})
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("frontier: URLs of %s: %w", host, err)
	}
	if read < n {
		last = ""
	}
	return list, last, nil
}

// Readmit implements crawler.Frontier. A page that was withdrawn comes back by a fetch
// like the first one: nothing of its earlier state is in force.
func (f *Frontier) Readmit(ctx context.Context, urls []page.URL, why string) error {
	for chunk := range slices.Chunk(urls, addChunk) {
		hosts := make(map[string]bool)
		_, err := f.db.Run(ctx, func(tx *txn.Txn) error {
			clear(hosts)
			for _, u := range chunk {
				old, known, err := ReadEntry(ctx, tx, u)
				if err != nil {
					return err
				}
				if !known || !old.IsRefused() {
					continue
				}
				now := old
				now.State, now.Refused = schema.EntryWaiting, false
				now.Revisit, now.Due, now.Note = old.Visits > 0, f.now(), why
				if err := f.guard(ctx, tx, crawler.HostOf(u), string(urls[0])); err != nil {
					return err
				}
				put(tx, u, &old, now)
				hosts[crawler.HostOf(u)] = true
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("frontier: readmit: %w", err)
		}
		for h := range hosts {
			f.wake(h)
		}
	}
	return nil
}
