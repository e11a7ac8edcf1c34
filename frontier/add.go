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
				fresh, err := offer(ctx, tx, f.scope, u, depth, 0, source)
				if err != nil {
					return err
				}
				if fresh {
					n++
					hosts[crawler.HostOf(u)] = true
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

// offer adds a URL if it is in scope and new, or brings it closer if it is known
// at a greater depth. It reports whether its host's queue has got an entry.
func offer(ctx context.Context, tx *txn.Txn, scope Decider, u page.URL, depth, hops int, source string) (bool, error) {
	old, known, err := ReadEntry(ctx, tx, u)
	if err != nil {
		return false, err
	}
	if known {
		return false, approach(tx, u, old, depth)
	}
	if hops > maxHops {
		return false, nil
	}
	if ok, err := scope.Decide(ctx, u, depth); err != nil || !ok {
		return false, err
	}
	put(tx, u, nil, schema.FrontierEntry{Depth: depth, Hops: hops, Source: source, Note: "new"})
	return true, nil
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
