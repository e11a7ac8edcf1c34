package frontier

import (
	"context"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Observers returns the observers by which a crawl finds new URLs.
//
//	discover  watches  frontier:discover (weak), at URL rows
//	          reads    doc:links, doc:frames, url:state, frontier:entry, url:discovery of the
//	                   page; entries of its targets, unless it has seen them before
//	                   (knowncache.go); unless rendering is off, render:form (resources.go)
//	          writes   entries and queue rows of targets that are new; url:discovery
//	          wakes    ready (weak) of their hosts; itself (weak), to continue
//	ready     watches  host:ready (weak)
//	          tells    the crawler, which looks into the host's queue: a call in this process,
//	                   or a message in the table where several processes crawl
//	prefetch  watches  frontier:prefetch (weak), at rows of pages to render
//	          reads    app:render-version; fetch:content, body:body of the page; entries of what
//	                   its HTML names
//	          writes   entries and queue rows of resources that are new (resources.go)
//	          wakes    ready (weak) of their hosts
//	relook    watches  host:relook (weak), at host rows
//	          reads    entries of the host; writes those that had lapsed
//	          wakes    discover at its pages, ready, and itself until it is done
//
// Discover also compares pages that differ in one query parameter, and learns from them
// which parameters make no difference; see parameters.go.
//
// Ready is an observer of its own because discover cannot tell the crawler about new
// work: its transaction has not committed yet.
//
// A run of discover offers one part of a page's links (schema/parts.go); the first run
// also offers everything else. If there are more parts, url:discovery says which is
// next, for which version of the links and from which depth. If either has changed by
// then, the page is offered from the beginning.
func Observers(rules Decider, ready func(ctx context.Context, tx *txn.Txn, host string) error) []notify.Observer {
	d := discoverer{rules, new(knownCache)}
	return []notify.Observer{
		{Name: "discover", Watches: schema.Discover, Weak: true, Batch: 8, Linger: linger, Run: d.run},
		{Name: "prefetch", Watches: schema.Prefetch, Weak: true, Run: d.prefetch},
		{Name: "relook", Watches: schema.HostRelook, Weak: true, Run: relook},
		{Name: "ready", Watches: schema.HostReady, Weak: true, Batch: 64, Run: func(ctx context.Context, tx *txn.Txn, hosts []string) error {
			for _, h := range hosts {
				if err := ready(ctx, tx, h); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

type discoverer struct {
	rules Decider
	known *knownCache
}

// linger is how long a page waits for others while pages are loaded, as on its way through the
// observers of package observers.
const linger = 20 * time.Millisecond

// enough is how many links a run offers before it leaves further pages to the next run.
const enough = 4096

func (d discoverer) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	if crawling, err := d.rules.Follow(ctx, tx); err != nil || !crawling {
		return err
	}
	rendering, err := schema.ReadRender(ctx, tx)
	if err != nil {
		return err
	}
	o := &offers{tx, d.rules, newParameters(tx), d.known}
	offered := 0
	for _, row := range rows {
		if offered >= enough {
			tx.Notify(row, schema.Discover)
			continue
		}
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		n, err := o.page(ctx, u, rendering.Mode() != schema.RenderOff)
		if err != nil {
			return err
		}
		offered += n
	}
	return nil
}

// page offers what a page or redirect points at: everything, or the next part of very
// many links. It skips robots.txt: its redirect target holds rules that the crawler has
// read already, not a page. It returns how many links it offered.
//
// Of a resource it offers only the target of a redirect, as a resource.
func (o *offers) page(ctx context.Context, u page.URL, rendering bool) (offered int, err error) {
	if u.IsRobotsTxt() {
		return 0, nil
	}
	from, _, err := ReadEntry(ctx, o.tx, u)
	if err != nil {
		return 0, err
	}
	row := schema.URLRow(u)
	if _, err := o.tx.GetRow(ctx, row, schema.GroupURL); err != nil {
		return 0, err
	}
	state, err := o.tx.Get(ctx, row, schema.State)
	if err != nil || !state.Exists {
		return 0, err
	}
	s, err := schema.DecodeURLState(state.Data)
	if err != nil {
		return 0, err
	}
	if from.Resource {
		if s.Outcome != page.Redirect || s.Target == "" {
			return 0, nil
		}
		return 0, o.takeResource(ctx, finding{url: s.Target, depth: from.Depth, hops: from.Hops + 1, source: targetOf(u, &from)})
	}
	links, first, err := nextLinks(ctx, o.tx, row, from.Depth)
	if err != nil {
		return 0, err
	}
	if first {
		if err := o.lead(ctx, u, from, s); err != nil {
			return 0, err
		}
	}
	several, err := o.params.severalOf(ctx, links)
	if err != nil {
		return 0, err
	}
	for _, g := range links {
		if err := o.take(ctx, finding{url: g.Target, depth: from.Depth + 1, source: string(u), several: several[g.Target]}); err != nil {
			return 0, err
		}
	}
	if !first {
		return len(links), nil
	}
	if err := o.frames(ctx, u, from.Depth+1); err != nil || !rendering {
		return len(links), err
	}
	return len(links), o.resources(ctx, u, from.Depth)
}

// lead offers the target of a redirect or canonical link, and compares the page with
// others of its host.
func (o *offers) lead(ctx context.Context, u page.URL, from schema.FrontierEntry, s schema.URLState) error {
	if err := o.params.observe(ctx, u, from, s); err != nil {
		return err
	}
	target := finding{url: s.Target, source: string(u), kept: true, depth: from.Depth + 1}
	switch s.Outcome {
	case page.Redirect:
		target.depth, target.hops = from.Depth, from.Hops+1
	case page.Gone, page.Other:
		if err := o.params.replace(ctx, u, from); err != nil {
			return err
		}
	}
	if target.url == "" {
		return nil
	}
	return o.take(ctx, target)
}

// nextLinks returns the links of a page that this run has to offer, and whether they
// are the first. It stores which part comes next.
func nextLinks(ctx context.Context, tx *txn.Txn, row string, depth int) (links []schema.TargetLinks, first bool, err error) {
	v, err := tx.Get(ctx, row, schema.Links)
	if err != nil {
		return nil, false, err
	}
	links, further, err := schema.DecodeLinkPart(v.Data)
	if err != nil {
		return nil, false, err
	}
	part, err := nextPart(ctx, tx, row, schema.StoredDiscovery{Links: v.TS, Depth: depth}, further)
	if err != nil || part == 0 {
		return links, true, err
	}
	if v, err = tx.Get(ctx, row, schema.Part(schema.Links, part)); err != nil {
		return nil, false, err
	}
	links, _, err = schema.DecodeLinkPart(v.Data)
	return links, false, err
}

// nextPart returns the number of the part that this run has to offer; last is the
// number of the last part.
func nextPart(ctx context.Context, tx *txn.Txn, row string, now schema.StoredDiscovery, last int) (int, error) {
	stored, err := tx.Get(ctx, row, schema.Discovery)
	if err != nil {
		return 0, err
	}
	was, err := schema.DecodeDiscovery(stored.Data)
	if err != nil {
		return 0, err
	}
	part := 0
	if stored.Exists && was.Links == now.Links && was.Depth == now.Depth && was.Part <= last {
		part = was.Part
	}
	switch {
	case part < last:
		now.Part = part + 1
		tx.Set(row, schema.Discovery, now.Encode())
		tx.Notify(row, schema.Discover)
	case stored.Exists:
		tx.Delete(row, schema.Discovery)
	}
	return part, nil
}

// frames offers what the frames of a page show, at the depth of a link: a frameset is a
// page, and the pages in its frames are others.
func (o *offers) frames(ctx context.Context, u page.URL, depth int) error {
	v, err := o.tx.Get(ctx, schema.URLRow(u), schema.Frames)
	if err != nil {
		return err
	}
	frames, err := schema.DecodeURLs(v.Data)
	if err != nil {
		return err
	}
	for _, target := range frames {
		if err := o.take(ctx, finding{url: target, depth: depth, source: string(u)}); err != nil {
			return err
		}
	}
	return nil
}

// take offers a URL, and wakes the crawler if it is new.
func (o *offers) take(ctx context.Context, f finding) error {
	fresh, err := o.offer(ctx, f)
	if fresh != "" {
		o.tx.Notify(crawler.HostOf(fresh), schema.HostReady)
	}
	return err
}
