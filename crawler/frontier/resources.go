package frontier

import (
	"context"
	"fmt"
	"strconv"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// While pages are rendered, the crawl also fetches their resources: what the HTML of a page
// names, and what it asked for when it was rendered (StoredForm.Inputs). The icon of a site, if
// the crawl wants it, is also a resource. Resources are entries like others, with the mark
// FrontierEntry.Resource:
//
//   - The scope of links does not apply to them, because scripts and fonts of a site are often
//     on other hosts. --exclude and the trap rules do, and, in the crawler, robots.txt,
//     politeness, the limits of sizes and the refusal of private addresses.
//   - A parameter that makes no difference between pages may make one between scripts, so
//     resources never lapse.
//   - Nothing in them is followed but a redirect, whose target is also a resource. A host that
//     has only resources is not asked for sitemaps, feeds and pages that cannot exist.
//   - They are visited again as pages are. When one has changed, the observers render the
//     pages that need it anew.
//   - If a link leads to a resource, and the rules take the link, the mark goes, and the URL
//     is a page of the crawl from then on. A page of the crawl never becomes a resource.
//
// A form has at most a few hundred inputs (package observers). The number of resources of a
// host is bounded by maxResourcesPerHost, so that pages that ask for something new each time
// cannot make a crawl endless. A resource beyond that stays missing.
//
// What comes back means what semantics.md says. A resource that is HTML is therefore a page,
// with a document in the index like any other.

// maxResourcesPerHost is how many resources of a host the frontier takes, over all runs.
const maxResourcesPerHost = 10_000

// resourceRule is the rule by which the crawl takes a resource.
const resourceRule = "resource"

// resources offers what a page asked for when it was rendered.
func (o *offers) resources(ctx context.Context, u page.URL, depth int) error {
	v, err := o.tx.Get(ctx, schema.URLRow(u), schema.Form)
	if err != nil || !v.Exists {
		return err
	}
	form, err := schema.DecodeForm(v.Data)
	if err != nil {
		return err
	}
	for _, i := range form.Inputs {
		if err := o.takeResource(ctx, finding{url: i.URL, depth: max(depth, 1), source: string(u)}); err != nil {
			return err
		}
	}
	return nil
}

// prefetch queues the scripts, style sheets and images that the HTML of pages to be rendered
// names. Otherwise the first rendering would only discover that they are missing. The rendering
// itself decides what it needs; prefetch saves a round, and may fetch something unneeded. Without
// a browser nothing is rendered, so prefetch fetches nothing. If there is a browser later, the
// forms name the missing resources.
func (d discoverer) prefetch(ctx context.Context, tx *txn.Txn, rows []string) error {
	if without, err := schema.WithoutBrowser(ctx, tx); err != nil || without {
		return err
	}
	if crawling, err := d.rules.Follow(ctx, tx); err != nil || !crawling {
		return err
	}
	o := &offers{tx, d.rules, newParameters(tx), d.known}
	for _, row := range rows {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		if err := o.named(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// named offers what the HTML of a page names.
func (o *offers) named(ctx context.Context, u page.URL) error {
	from, known, err := ReadEntry(ctx, o.tx, u)
	if err != nil || !known || from.Resource {
		return err
	}
	f, err := schema.ReadInForce(ctx, o.tx, u)
	if err != nil || f == nil {
		return err
	}
	if stored, err := f.ReadBody(ctx, o.tx); err != nil || !stored {
		return err
	}
	for _, named := range page.Subresources(&f.Fetch) {
		if err := o.takeResource(ctx, finding{url: named, depth: max(from.Depth, 1), source: string(u)}); err != nil {
			return err
		}
	}
	return nil
}

// takeResource adds a resource that is new, and wakes the crawler. Resources of a page have
// its depth, so that they are fetched before the pages that it links to.
func (o *offers) takeResource(ctx context.Context, f finding) error {
	if _, known, err := ReadEntry(ctx, o.tx, f.url); err != nil || known || f.hops > MaxHops {
		return err
	}
	d, err := o.rules.DecideResource(ctx, f.url)
	if err != nil || !d.OK {
		return err
	}
	host := crawler.HostOf(f.url)
	n, err := resourcesOf(ctx, o.tx, host)
	if err != nil || n >= maxResourcesPerHost {
		return err
	}
	o.tx.Set(host, schema.HostResources, strconv.AppendInt(nil, int64(n)+1, 10))
	put(o.tx, f.url, nil, schema.FrontierEntry{Depth: f.depth, Hops: f.hops, Source: f.source, Note: "new", Resource: true})
	o.tx.Notify(host, schema.HostReady)
	return nil
}

// resourcesOf returns how many resources of a host the frontier has taken.
func resourcesOf(ctx context.Context, tx *txn.Txn, host string) (int, error) {
	v, err := tx.Get(ctx, host, schema.HostResources)
	if err != nil || !v.Exists {
		return 0, err
	}
	n, err := strconv.Atoi(string(v.Data))
	if err != nil {
		return 0, fmt.Errorf("number of resources %q of %s: %w", v.Data, host, store.ErrCorrupt)
	}
	return n, nil
}

// promote makes a resource a page of the crawl, if the rules take the link that leads to it.
// Discover then follows its links.
func (o *offers) promote(ctx context.Context, f finding, old schema.FrontierEntry) error {
	d, err := o.rules.Decide(ctx, f.url, f.depth)
	if err != nil || !d.OK {
		return err
	}
	now := old
	now.Resource, now.Depth, now.Source = false, f.depth, f.source
	put(o.tx, f.url, &old, now)
	if old.Visits > 0 {
		o.tx.Notify(schema.URLRow(f.url), schema.Discover)
	}
	return nil
}

// targetOf is the source of what a resource redirects to. That of an icon should be an icon.
func targetOf(u page.URL, e *schema.FrontierEntry) string {
	if _, ok := crawler.IconNamedBy(e.Source); ok || u == u.RootIcon() {
		return crawler.IconOf(u)
	}
	return string(u)
}

// whatResource says what a resource is for. The text follows the word "it".
func whatResource(u page.URL, e *schema.FrontierEntry) string {
	if by, ok := crawler.IconNamedBy(e.Source); ok {
		return "is the icon that " + by + " leads to; nothing in it is followed"
	}
	if u == u.RootIcon() {
		return "is the icon of its site; nothing in it is followed"
	}
	return "is a resource of " + e.Source + ", which is rendered; nothing in it is followed"
}

// neededBy returns a page that asked for a URL when it was rendered, "" if none did.
func neededBy(ctx context.Context, tx *txn.Txn, u page.URL) (by page.URL, err error) {
	err = tx.ScanPrefix(ctx, schema.GroupNeed, schema.PairPrefix(u), func(row string, _ []txn.Version) error {
		_, by, err = schema.ParsePairRow(row)
		if err != nil {
			return err
		}
		return txn.ErrStop
	})
	if err != nil {
		return "", fmt.Errorf("frontier: which page needs %s: %w", u, err)
	}
	return by, nil
}
