package crawler

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/webindexer/indexer/page"
)

// With Sources.Icons, the crawler asks each host that has a page for /favicon.ico, where browsers
// look for the icon of a site, and for the icons that its front page names. They are resources:
// robots.txt, politeness and all limits hold, they are not pages of the host, and they are visited
// again as pages are.

// MaxNamedIcons bounds the icons that are asked for because the front page of a host names them,
// over all runs: a page may name another one each time.
const MaxNamedIcons = 8

// iconSource begins the source of an icon that a page names, before the page, and of what the
// request for an icon was redirected to.
const iconSource = "icon of "

// IconOf is the source of an icon that a page names, or to which a request redirects.
func IconOf(u page.URL) string { return iconSource + string(u) }

// IconNamedBy returns where an icon was found; false if a source is not that of an icon.
func IconNamedBy(source string) (by string, ok bool) { return strings.CutPrefix(source, iconSource) }

// icons is which icons of a host the frontier has.
type icons struct {
	root  bool       // /favicon.ico
	named []page.URL // by its front page; at most MaxNamedIcons
}

// join adds what another visit has sought, and reports whether it named an icon.
func (i *icons) join(other icons) bool {
	i.root = i.root || other.root
	n := len(i.named)
	for _, u := range other.named {
		if len(i.named) < MaxNamedIcons && !slices.Contains(i.named, u) {
			i.named = append(i.named, u)
		}
	}
	return len(i.named) > n
}

// seekIcons adds icons of a host to the frontier, after a visit that found a page, and returns
// those that the frontier has then. The frontier takes each once.
func (c *Crawler) seekIcons(ctx context.Context, known icons, j Job, f *page.Fetch) (icons, error) {
	if !c.opts.Sources.Icons || j.Resource || !f.IsSuccess() {
		return known, nil
	}
	now := icons{root: true, named: slices.Clone(known.named)}
	if !known.root {
		if err := c.addIcons(ctx, j, string(j.URL), j.URL.RootIcon()); err != nil {
			return known, err
		}
	}
	if !isFront(&j) || !now.join(icons{named: page.NamedIcons(f)}) {
		return now, nil
	}
	if err := c.addIcons(ctx, j, IconOf(j.URL), now.named[len(known.named):]...); err != nil {
		return known, err
	}
	return now, nil
}

func (c *Crawler) addIcons(ctx context.Context, j Job, source string, urls ...page.URL) error {
	found := Finding{Depth: max(j.Depth, 1), Source: source, Resources: true}
	for _, u := range urls {
		found.URLs = append(found.URLs, Found{URL: u})
	}
	if _, err := c.frontier.Add(ctx, found); err != nil {
		return fmt.Errorf("add the icon of its site: %w", err)
	}
	return nil
}

// isFront reports whether a job is for the front page of its host, or the page to which that
// redirects.
func isFront(j *Job) bool {
	front := page.URL(j.URL.Site() + "/")
	return j.URL == front || j.Hops > 0 && j.Source == string(front)
}

// isFalseIcon reports whether a request for an icon returned a page or a document. Such a
// response says "not found", whatever its status, and belongs in no index.
func isFalseIcon(j *Job, f *page.Fetch) bool {
	if _, named := IconNamedBy(j.Source); !j.Resource || !named && j.URL != j.URL.RootIcon() {
		return false
	}
	return f.IsPDF() || f.IsOffice() || page.Interpret(f).Outcome == page.Page
}
