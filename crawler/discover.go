package crawler

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"indexer/crawler/fetch"
	"indexer/crawler/sitemap"
	"indexer/page"
)

// maxHead is how much of a page is searched for the end of its head.
const maxHead = 64 << 10

// discover finds what a page names by <link> in its head: feeds, which are returned,
// and next pages and translations, which are added to the frontier. They count as
// found a link further, like what the page links to. (Links as such are found by
// observers, when the page has been loaded.)
//
// Only heads that hold a word that matters are parsed: pages are parsed once, by the
// observers, and twice is too much.
func (c *Crawler) discover(ctx context.Context, j Job, res *fetch.Result, notFound bool) (feeds []page.URL, err error) {
	f := &res.Fetch
	if c.opts.Sources.NoFeeds || notFound || f.HasFailed() || f.Status < 200 || f.Status > 299 {
		return nil, nil
	}
	head := headOf(f)
	if !mayName(head) {
		return nil, nil
	}
	root, err := html.Parse(bytes.NewReader(head))
	if err != nil {
		return nil, nil //nolint:nilerr // a reader of bytes does not fail; and what cannot be parsed names nothing
	}
	var pages []Found
	for _, ref := range sitemap.Discover(j.URL, root) {
		if ref.Relation == sitemap.FeedOf {
			feeds = append(feeds, ref.URL)
		} else {
			pages = append(pages, Found{URL: ref.URL})
		}
	}
	if len(pages) > 0 {
		if _, err := c.frontier.Add(ctx, Finding{URLs: pages, Depth: j.Depth + 1, Source: string(j.URL)}); err != nil {
			return nil, fmt.Errorf("add the pages it names by <link>: %w", err)
		}
	}
	return feeds, nil
}

// headOf is the head of an HTML page, nil of anything else.
func headOf(f *page.Fetch) []byte {
	if !strings.Contains(strings.ToLower(f.Header.Get("Content-Type")), "html") {
		return nil
	}
	head := bytes.ToLower(f.Body[:min(len(f.Body), maxHead)])
	end := len(head)
	for _, mark := range []string{"</head", "<body"} {
		if i := bytes.Index(head, []byte(mark)); i >= 0 {
			end = min(end, i)
		}
	}
	return f.Body[:min(end, len(f.Body))]
}

// mayName tells whether a head is worth parsing. One that says nofollow anywhere is
// taken at its word.
func mayName(head []byte) bool {
	lower := bytes.ToLower(head)
	if !bytes.Contains(lower, []byte("<link")) || bytes.Contains(lower, []byte("nofollow")) {
		return false
	}
	for _, word := range []string{"rss+xml", "atom+xml", "rdf+xml", "hreflang", "next"} {
		if bytes.Contains(lower, []byte(word)) {
			return true
		}
	}
	return false
}
