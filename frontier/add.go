package frontier

import (
	"context"
	"fmt"
	"slices"

	"indexer/crawler"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// maxHops is how many redirects in a row are followed.
const maxHops = 10

// addChunk bounds how many URLs one transaction adds.
const addChunk = 200

// Add implements crawler.Frontier.
func (f *Frontier) Add(ctx context.Context, urls []page.URL, depth int, source string) (added int, err error) {
	for chunk := range slices.Chunk(urls, addChunk) {
		hosts := make(map[string]bool)
		n := 0
		_, err := f.db.Run(ctx, func(tx *txn.Txn) error {
			clear(hosts)
			n = 0
			for _, u := range chunk {
				fresh, err := offer(ctx, tx, f.rules, u, depth, 0, source)
				if err != nil {
					return err
				}
				if fresh != "" {
					n++
					hosts[crawler.HostOf(fresh)] = true
				}
			}
			return nil
		})
		if err != nil {
			return added, fmt.Errorf("frontier: add URLs from %s: %w", source, err)
		}
		added += n
		for h := range hosts {
			f.wake(h)
		}
	}
	return added, nil
}

// offer adds a URL if it is taken and new, or brings it closer if it is known at
// a greater depth. It returns the URL that was added: u, or the one that the rules
// want in its stead (without a session id); "" if there is nothing new.
func offer(ctx context.Context, tx *txn.Txn, rules Decider, u page.URL, depth, hops int, source string) (page.URL, error) {
	old, known, err := ReadEntry(ctx, tx, u)
	if err != nil {
		return "", err
	}
	if known {
		return "", approach(tx, u, old, depth)
	}
	if hops > maxHops {
		return "", nil
	}
	d, err := rules.Decide(ctx, u, depth)
	if err != nil {
		return "", err
	}
	if !d.OK {
		if d.Instead == "" || d.Instead == u {
			return "", nil
		}
		// A redirect to the very URL that another was taken for counts as a hop, so
		// that the two cannot send us round in circles.
		return offer(ctx, tx, rules, d.Instead, depth, hops+1, source)
	}
	put(tx, u, nil, schema.FrontierEntry{Depth: depth, Hops: hops, Source: source, Note: "new"})
	return u, nil
}

// approach lowers the depth of a known URL; what it links to is then looked at
// again, as that may have come into reach.
func approach(tx *txn.Txn, u page.URL, old schema.FrontierEntry, depth int) error {
	if depth >= old.Depth {
		return nil
	}
	now := old
	now.Depth = depth
	put(tx, u, &old, now)
	if old.Visits > 0 {
		tx.Notify(schema.URLRow(u), schema.Discover)
	}
	return nil
}
