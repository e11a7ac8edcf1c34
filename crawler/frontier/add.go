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
	if _, err := f.rules.Follow(ctx, tx); err != nil {
		return added, err
	}
	o := offers{tx, f.rules, newParameters(tx), nil}
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
		f := finding{url: found.URL, depth: part.Depth, source: part.Source}
		if part.Resources {
			if err := o.takeResource(ctx, f); err != nil {
				return added, err
			}
			hosts[crawler.HostOf(f.url)] = true
			continue
		}
		fresh, err := o.offer(ctx, f)
		if err != nil {
			return added, err
		}
		if fresh != "" {
			added.New++
			hosts[crawler.HostOf(fresh)] = true
		}
	}
	f.tellOthers(tx, hosts)
	return added, nil
}

// tellOthers notifies ready at hosts that another crawler may have, now or by the time
// at which the transaction commits.
func (f *Frontier) tellOthers(tx *txn.Txn, hosts map[string]bool) {
	if f.Guard == nil {
		return
	}
	for h := range hosts {
		tx.Notify(h, schema.HostReady)
	}
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

// offers is what a transaction needs to add URLs.
type offers struct {
	tx     *txn.Txn
	rules  Decider
	params *parameters
	known  *knownCache // nil: no cache
}

// offer adds a URL if the rules take it and it is new, or brings it closer if it is
// known at a greater depth. It returns the URL that was added: the one found, or the
// one that the rules want instead (without a session id); "" if nothing is new.
func (o *offers) offer(ctx context.Context, f finding) (page.URL, error) {
	kept := f.kept && f.url.Query() != ""
	if o.known != nil && !kept && o.known.covers(f.url, f.depth) {
		return "", nil
	}
	old, known, err := o.read(ctx, f.url)
	if err != nil {
		return "", err
	}
	if known && old.Resource {
		return "", o.promote(ctx, f, old)
	}
	if known && old.Lapsed && (kept || f.depth < old.Depth) {
		old.Depth, old.Kept = min(old.Depth, f.depth), old.Kept || kept
		resume(o.tx, f.url, old, "found in "+f.source)
		return f.url, nil
	}
	if known {
		return "", o.approach(ctx, f.url, old, f.depth)
	}
	if f.hops > MaxHops {
		return "", nil
	}
	d, err := o.rules.Decide(ctx, f.url, f.depth)
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
		return o.offer(ctx, f)
	}
	if !kept && f.url.Query() != "" && d.Rule != "scope.seed" {
		what, first, err := o.params.sort(ctx, f.url, f.several)
		if err != nil {
			return "", err
		}
		if what == leaveURL {
			return "", o.nearer(ctx, first, f.depth)
		}
		kept = what == checkURL
	}
	weight, err := weigh(ctx, o.tx, o.rules, f.url)
	if err != nil {
		return "", err
	}
	put(o.tx, f.url, nil, schema.FrontierEntry{Depth: f.depth, Hops: f.hops, Source: f.source, Note: "new", Weight: weight, Kept: kept})
	return f.url, nil
}

// read reads an entry, and caches it unless this transaction has written it.
func (o *offers) read(ctx context.Context, u page.URL) (e schema.FrontierEntry, known bool, err error) {
	v, err := o.tx.Get(ctx, schema.URLRow(u), schema.Entry)
	if err != nil || !v.Exists {
		return e, false, err
	}
	e, err = schema.DecodeEntry(v.Data)
	if err == nil && v.TS != 0 && o.known != nil && !e.Resource {
		o.known.learn(u, &e)
	}
	return e, true, err
}

// nearer is approach for the URL that is fetched in place of another.
func (o *offers) nearer(ctx context.Context, u page.URL, depth int) error {
	e, known, err := o.read(ctx, u)
	if err != nil || !known {
		return err
	}
	return o.approach(ctx, u, e, depth)
}

// approach lowers the depth of a known URL. Discover then checks its links again,
// because they may have come into reach. A URL that was never fetched also gets a new
// priority, because the new link to it has probably changed its rank.
func (o *offers) approach(ctx context.Context, u page.URL, old schema.FrontierEntry, depth int) error {
	now := old
	now.Depth = min(old.Depth, depth)
	if old.State == schema.EntryWaiting && !old.Revisit && now.Depth > 0 {
		weight, err := weigh(ctx, o.tx, o.rules, u)
		if err != nil {
			return err
		}
		now.Weight = reweigh(old.Weight, weight)
	}
	if now.Depth == old.Depth && now.Weight == old.Weight {
		return nil
	}
	put(o.tx, u, &old, now)
	if old.Visits > 0 && now.Depth < old.Depth {
		o.tx.Notify(schema.URLRow(u), schema.Discover)
	}
	return nil
}
