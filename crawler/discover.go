package crawler

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/sitemap"
	"github.com/webindexer/indexer/page"
)

// maxHead is how many bytes of a page are searched for the end of its head.
const maxHead = 64 << 10

// discover finds what a page names by <link> in its head. It returns feeds, and adds
// next pages and translations to the frontier, one link deeper than the page, like the
// page's links. (Observers find the links themselves once the page is loaded.)
//
// It parses only heads that contain a relevant word: the observers parse every page
// already, and parsing all twice costs too much.
func (c *Crawler) discover(ctx context.Context, j Job, res *fetch.Result, notFound bool) (feeds []page.URL, err error) {
	f := &res.Fetch
	if c.opts.Sources.NoFeeds || j.Resource || notFound || !f.IsSuccess() {
		return nil, nil
	}
	head := headOf(f)
	if !mayName(head) {
		return nil, nil
	}
	only := *f
	only.Body = head
	text, _, _ := page.BodyText(&only) // "" if it is not HTML
	named := sitemap.Discover(j.URL, page.ParseTree([]byte(text)), page.QueryEncoder(&only))
	if len(named) == 0 || page.Interpret(&only).NoFollow {
		return nil, nil
	}
	var pages []Found
	for _, ref := range named {
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

// headOf returns the head of an HTML page; nil for other types.
func headOf(f *page.Fetch) []byte {
	if !strings.Contains(strings.ToLower(f.Header.Get("Content-Type")), "html") {
		return nil
	}
	head := f.Body[:min(len(f.Body), maxHead)]
	for at := 0; ; at++ {
		tag := bytes.IndexByte(head[at:], '<')
		if tag < 0 {
			return head
		}
		if at += tag; beginsTag(head[at:], "</head") || beginsTag(head[at:], "<body") {
			return head[:at]
		}
	}
}

// beginsTag reports whether b begins with a tag, in any case.
func beginsTag(b []byte, tag string) bool {
	return len(b) >= len(tag) && strings.EqualFold(string(b[:len(tag)]), tag)
}

// mayName reports whether a head is worth parsing.
func mayName(head []byte) bool {
	lower := bytes.ToLower(head)
	if !bytes.Contains(lower, []byte("<link")) {
		return false
	}
	for _, word := range []string{"rss+xml", "atom+xml", "rdf+xml", "hreflang", "next"} {
		if bytes.Contains(lower, []byte(word)) {
			return true
		}
	}
	return false
}
