package frontier

import (
	"context"

	"indexer/crawler"
	"indexer/notify"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Observers are those by which a crawl finds new URLs.
//
//	discover  watches  frontier:discover (weak), at URL rows
//	          reads    doc:links, doc:frames, url:state, frontier:entry of the page; entries of its targets
//	          writes   entries and queue rows of targets that are new
//	          wakes    ready (weak) of their hosts
//	ready     watches  host:ready (weak)
//	          tells    the crawler, which looks into the host's queue
//	relook    watches  host:relook (weak), at host rows
//	          reads    entries of the host; writes those that had lapsed
//	          wakes    discover at its pages, ready, and itself until it is done
//
// Discover also compares pages that differ in a query parameter only, and learns from
// that which parameters make no difference; see parameters.go.
//
// That a host has got work is told by a notification of its own, and not by
// discover, because discover's transaction has not committed yet when it could.
func Observers(rules Decider, wake func(host string)) []notify.Observer {
	d := discoverer{rules: rules}
	return []notify.Observer{
		{Name: "discover", Watches: schema.Discover, Weak: true, Batch: 8, Run: d.run},
		{Name: "relook", Watches: schema.HostRelook, Weak: true, Run: relook},
		{Name: "ready", Watches: schema.HostReady, Weak: true, Batch: 64, Run: func(_ context.Context, _ *txn.Txn, hosts []string) error {
			for _, h := range hosts {
				wake(h)
			}
			return nil
		}},
	}
}

type discoverer struct {
	rules Decider
}

func (d discoverer) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	params := newParameters(tx)
	for _, row := range rows {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		if err := d.page(ctx, tx, params, u); err != nil {
			return err
		}
	}
	return nil
}

// page offers everything that a page or redirect points at. What a robots.txt
// redirects to are rules, which the crawler has read then, and no page.
func (d discoverer) page(ctx context.Context, tx *txn.Txn, params *parameters, u page.URL) error {
	if u.Path() == "/robots.txt" {
		return nil
	}
	from, _, err := ReadEntry(ctx, tx, u)
	if err != nil {
		return err
	}
	row := schema.URLRow(u)
	state, err := tx.Get(ctx, row, schema.State)
	if err != nil || !state.Exists {
		return err
	}
	s, err := schema.DecodeURLState(state.Data)
	if err != nil {
		return err
	}
	if err := params.observe(ctx, u, from, s); err != nil {
		return err
	}
	target := finding{url: s.Target, source: string(u), kept: true, depth: from.Depth + 1}
	switch s.Outcome {
	case page.Redirect:
		target.depth, target.hops = from.Depth, from.Hops+1
	case page.Gone, page.Other:
		if err := params.replace(ctx, u, from); err != nil {
			return err
		}
	}
	if target.url != "" {
		if err := d.offer(ctx, tx, params, target); err != nil {
			return err
		}
	}
	links, err := tx.Get(ctx, row, schema.Links)
	if err != nil {
		return err
	}
	groups, err := schema.DecodeLinks(links.Data)
	if err != nil {
		return err
	}
	several, err := params.severalOf(ctx, groups)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := d.offer(ctx, tx, params, finding{url: g.Target, depth: from.Depth + 1, source: string(u), several: several[g.Target]}); err != nil {
			return err
		}
	}
	return d.frames(ctx, tx, params, u, from.Depth+1)
}

// frames offers what the frames of a page show, at the depth of a link: a frameset is a
// page of its own, and what stands in it are others.
func (d discoverer) frames(ctx context.Context, tx *txn.Txn, params *parameters, u page.URL, depth int) error {
	v, err := tx.Get(ctx, schema.URLRow(u), schema.Frames)
	if err != nil {
		return err
	}
	frames, err := schema.DecodeURLs(v.Data)
	if err != nil {
		return err
	}
	for _, target := range frames {
		if err := d.offer(ctx, tx, params, finding{url: target, depth: depth, source: string(u)}); err != nil {
			return err
		}
	}
	return nil
}

func (d discoverer) offer(ctx context.Context, tx *txn.Txn, params *parameters, f finding) error {
	fresh, err := offer(ctx, tx, d.rules, params, f)
	if fresh != "" {
		tx.Notify(crawler.HostOf(fresh), schema.HostReady)
	}
	return err
}
