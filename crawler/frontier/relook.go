package frontier

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// relookRows is how many entries one transaction reads.
const relookRows = 256

// relook queues the URLs that were left out because of a parameter that turned out to
// make a difference: it queues lapsed URLs again, and wakes discover at each page of
// the site to add its links again. It works through the site some entries at a time and
// stores its progress in the host's row, so after a crash it continues from there.
func relook(ctx context.Context, tx *txn.Txn, hosts []string) error {
	for _, host := range hosts {
		if err := relookAt(ctx, tx, host); err != nil {
			return fmt.Errorf("queue again what was left out of %s: %w", host, err)
		}
	}
	return nil
}

func relookAt(ctx context.Context, tx *txn.Txn, host string) error {
	root, err := page.ParseURL(host + "/")
	if err != nil {
		return err
	}
	at, err := tx.GetForUpdate(ctx, host, schema.HostRelookAt)
	if err != nil {
		return err
	}
	from := root.SiteKey()
	if at.Exists {
		from = string(at.Data)
	}
	lapsed, next, err := lookThrough(ctx, tx, root, from)
	if err != nil {
		return err
	}
	for _, u := range lapsed {
		e, _, err := ReadEntry(ctx, tx, u)
		if err != nil {
			return err
		}
		resume(tx, u, e, "a parameter that was ignored makes a difference after all")
	}
	if len(lapsed) > 0 {
		tx.Notify(host, schema.HostReady)
	}
	if next == "" {
		if at.Exists {
			tx.Delete(host, schema.HostRelookAt)
		}
		return nil
	}
	tx.Set(host, schema.HostRelookAt, []byte(next))
	tx.Notify(host, schema.HostRelook)
	return nil
}

// lookThrough reads some entries of a site. It returns the lapsed ones of its host, wakes discover at pages
// that were visited, and says where to continue; "" if it has read all.
func lookThrough(ctx context.Context, tx *txn.Txn, root page.URL, from string) (lapsed []page.URL, next string, err error) {
	read := 0
	err = tx.Scan(ctx, schema.GroupFrontier, from, txn.PrefixEnd(root.SiteKey()), func(row string, _ []txn.Version) error {
		if read == relookRows {
			next = row
			return txn.ErrStop
		}
		read++
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		e, known, err := ReadEntry(ctx, tx, u)
		switch {
		case err != nil || !known:
			return err
		case e.Lapsed && crawler.HostOf(u) == crawler.HostOf(root):
			lapsed = append(lapsed, u)
		case e.Visits > 0:
			return rediscover(ctx, tx, row)
		}
		return nil
	})
	return lapsed, next, err
}
