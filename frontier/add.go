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
func (f *Frontier) Add(ctx context.Context, found crawler.Finding) (sum crawler.Added, err error) {
	for chunk := range slices.Chunk(found.URLs, addChunk) {
		hosts := make(map[string]bool)
		var added crawler.Added
		part := found
		part.URLs, part.Hasten = chunk, found.Hasten-sum.Hastened
		_, err := f.db.Run(ctx, func(tx *txn.Txn) (err error) {
			clear(hosts)
			added, err = f.add(ctx, tx, part, hosts)
			return err
		})
		if err != nil {
			return sum, fmt.Errorf("frontier: add URLs from %s: %w", found.Source, err)
		}
		sum.New += added.New
		sum.Hastened += added.Hastened
		for h := range hosts {
			f.wake(h)
		}
	}
	return sum, nil
}

// add adds a part of a finding, and notes the hosts that have got something due.
func (f *Frontier) add(ctx context.Context, tx *txn.Txn, part crawler.Finding, hosts map[string]bool) (added crawler.Added, err error) {
	for _, found := range part.URLs {
		if !found.Changed.IsZero() && added.Hastened < part.Hasten {
			sooner, err := f.hasten(ctx, tx, found, part.Spacing)
			if err != nil {
				return added, err
			}
			if sooner {
				added.Hastened++
				hosts[crawler.HostOf(found.URL)] = true
			}
		}
		fresh, err := offer(ctx, tx, f.rules, found.URL, part.Depth, 0, part.Source)
		if err != nil {
			return added, err
		}
		if fresh != "" {
			added.New++
			hosts[crawler.HostOf(fresh)] = true
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
		return "", approach(ctx, tx, rules, u, old, depth)
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
	weight, err := weigh(ctx, tx, rules, u)
	if err != nil {
		return "", err
	}
	put(tx, u, nil, schema.FrontierEntry{Depth: depth, Hops: hops, Source: source, Note: "new", Weight: weight})
	return u, nil
}

// approach lowers the depth of a known URL; what it links to is then looked at
// again, as that may have come into reach. A URL that was never fetched is weighed
// again: whoever links to it has most likely changed its rank.
func approach(ctx context.Context, tx *txn.Txn, rules Decider, u page.URL, old schema.FrontierEntry, depth int) error {
	now := old
	now.Depth = min(old.Depth, depth)
	if old.State == schema.EntryWaiting && !old.Revisit && now.Depth > 0 {
		weight, err := weigh(ctx, tx, rules, u)
		if err != nil {
			return err
		}
		now.Weight = reweigh(old.Weight, weight)
	}
	if now.Depth == old.Depth && now.Weight == old.Weight {
		return nil
	}
	put(tx, u, &old, now)
	if old.Visits > 0 && now.Depth < old.Depth {
		tx.Notify(schema.URLRow(u), schema.Discover)
	}
	return nil
}
