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

// MaxHops is how many redirects in a row are followed.
const MaxHops = 10

// addChunk bounds how many URLs one transaction adds.
const addChunk = 200

// Add implements crawler.Frontier.
func (f *Frontier) Add(ctx context.Context, found crawler.Finding) (sum crawler.Added, err error) {
	for chunk := range slices.Chunk(found.URLs, addChunk) {
		hosts := make(map[string]bool)
		var added crawler.Added
		part := found
		part.URLs, part.BringForward = chunk, found.BringForward-sum.BroughtForward
		_, err := f.db.Run(ctx, func(tx *txn.Txn) (err error) {
			clear(hosts)
			added, err = f.add(ctx, tx, part, hosts)
			return err
		})
		if err != nil {
			return sum, fmt.Errorf("frontier: add URLs from %s: %w", found.Source, err)
		}
		sum.New += added.New
		sum.BroughtForward += added.BroughtForward
		for h := range hosts {
			f.wake(h)
		}
	}
	return sum, nil
}

// add adds a part of a finding and notes the hosts that now have something due.
func (f *Frontier) add(ctx context.Context, tx *txn.Txn, part crawler.Finding, hosts map[string]bool) (added crawler.Added, err error) {
	params := newParameters(tx)
	for _, found := range part.URLs {
		if !found.Changed.IsZero() && added.BroughtForward < part.BringForward {
			sooner, err := f.bringForward(ctx, tx, found, part.Spacing)
			if err != nil {
				return added, err
			}
			if sooner {
				added.BroughtForward++
				hosts[crawler.HostOf(found.URL)] = true
			}
		}
		fresh, err := offer(ctx, tx, f.rules, params, finding{url: found.URL, depth: part.Depth, source: part.Source})
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

// finding is a URL that was found.
type finding struct {
	url         page.URL
	depth, hops int
	source      string
	// kept takes the URL even if its parameters make no difference; several says that
	// it was found with others that differ only in those parameters.
	kept, several bool
}

// offer adds a URL if the rules take it and it is new, or brings it closer if it is
// known at a greater depth. It returns the URL that was added: the one found, or the
// one that the rules want instead (without a session id); "" if nothing is new.
func offer(ctx context.Context, tx *txn.Txn, rules Decider, params *parameters, f finding) (page.URL, error) {
	old, known, err := ReadEntry(ctx, tx, f.url)
	if err != nil {
		return "", err
	}
	if known {
		return "", approach(ctx, tx, rules, f.url, old, f.depth)
	}
	if f.hops > MaxHops {
		return "", nil
	}
	d, err := rules.Decide(ctx, f.url, f.depth)
	if err != nil {
		return "", err
	}
	if !d.OK {
		if d.Instead == "" || d.Instead == f.url {
			return "", nil
		}
		// A redirect to the URL that was taken instead of it counts as a hop, so that
		// the two cannot send us round in circles.
		f.url = d.Instead
		f.hops++
		return offer(ctx, tx, rules, params, f)
	}
	kept := f.kept && f.url.Query() != ""
	if !kept && f.url.Query() != "" && d.Rule != "scope.seed" {
		what, first, err := params.sort(ctx, f.url, f.several)
		if err != nil {
			return "", err
		}
		if what == leaveURL {
			return "", nearer(ctx, tx, rules, first, f.depth)
		}
		kept = what == checkURL
	}
	weight, err := weigh(ctx, tx, rules, f.url)
	if err != nil {
		return "", err
	}
	put(tx, f.url, nil, schema.FrontierEntry{Depth: f.depth, Hops: f.hops, Source: f.source, Note: "new", Weight: weight, Kept: kept})
	return f.url, nil
}

// nearer is approach for the URL that is fetched in place of another.
func nearer(ctx context.Context, tx *txn.Txn, rules Decider, u page.URL, depth int) error {
	e, known, err := ReadEntry(ctx, tx, u)
	if err != nil || !known {
		return err
	}
	return approach(ctx, tx, rules, u, e, depth)
}

// approach lowers the depth of a known URL. Discover then looks at its links again, as
// they may have come into reach. A URL that was never fetched is also weighed again:
// the new link to it has most likely changed its rank.
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
