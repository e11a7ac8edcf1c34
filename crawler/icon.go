package crawler

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/page"
)

// With Sources.Icons, the crawler asks each host that has a page for /favicon.ico, where browsers
// look for the icon of a site. It is a resource: robots.txt, politeness and all limits hold, it
// is no page of the host, and it is visited again as pages are.

// seekIcon adds the icon of a host to the frontier, after a visit that found a page, and reports
// whether it has. The frontier takes it once.
func (c *Crawler) seekIcon(ctx context.Context, sought bool, j Job, f *page.Fetch) (bool, error) {
	if sought || !c.opts.Sources.Icons || j.Resource || f.HasFailed() || f.Status < 200 || f.Status > 299 {
		return false, nil
	}
	icon := Finding{URLs: []Found{{URL: j.URL.RootIcon()}}, Depth: max(j.Depth, 1), Source: string(j.URL), Resources: true}
	if _, err := c.frontier.Add(ctx, icon); err != nil {
		return false, fmt.Errorf("add the icon of its site: %w", err)
	}
	return true, nil
}

// isFalseIcon reports whether a page came where the icon of a host should be. Such a page says
// "not found", whatever its status, and belongs into no index.
func isFalseIcon(j *Job, f *page.Fetch) bool {
	return j.Resource && j.URL == j.URL.RootIcon() && page.Interpret(f).Outcome == page.Page
}
