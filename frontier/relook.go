package frontier

import (
	"context"
	"fmt"

	"indexer/crawler"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// relookRows is how many entries are looked at in one transaction.
const relookRows = 256

// relook takes up what was left out for a parameter that makes a difference after all:
// URLs that had lapsed are queued again, and discover is woken at each page of the
// site, whose links it offers anew. It works through the site some entries at a time
// and keeps in the host's row how far it has come, so a crash goes on from there.
func relook(ctx context.Context, tx *txn.Txn, hosts []string) error {
	for _, host := range hosts {
		if err := relookAt(ctx, tx, host); err != nil {
			return fmt.Errorf("take up what was left out of %s: %w", host, err)
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
	from, read := root.SiteKey(), 0
	if at.Exists {
		from = string(at.Data)
	}
	next := ""
	var lapsed []page.URL
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
		case e.Lapsed && crawler.HostOf(u) == host:
			lapsed = append(lapsed, u)
		case e.Visits > 0:
			return offerAgain(ctx, tx, row)
		}
		return nil
	})
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
