package crawler

import (
	"context"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/crawler/sitemap"
	"github.com/webindexer/indexer/page"
)

// listed is what a sitemap or feed lists. Its pages are added some at a time, while the
// file is read: there may be 50 MiB of them.
type listed struct {
	file  *auxiliary
	most  int             // how many files it may list
	asked context.Context // ended when the crawl should end
	add   func(pages []Found, forward int) (Added, error)

	pages       []Found     // not added yet
	more        []auxiliary // the files that it lists, or redirects to
	full        bool        // it lists more than most
	forward     int         // visits that were brought forward
	interrupted bool        // it was not read to its end, because the crawl should end
	err         error
}

// addChunk is how many URLs are added at a time.
const addChunk = 1000

// redirect takes the target of a redirect.
func (l *listed) redirect(location string) {
	moved := *l.file
	u, err := moved.url.Resolve(location)
	if moved.hops++; err != nil || moved.hops > maxAuxHops {
		return
	}
	moved.counted = HostOf(u) == HostOf(moved.url)
	moved.url, moved.forward = u, 0
	l.more = append(l.more, moved)
}

// take takes an entry, and reports whether to continue. Times at which pages changed
// count only for pages of the site that announced the file.
func (l *listed) take(e sitemap.Entry) bool {
	switch {
	case e.Kind == sitemap.PageEntry:
		found := Found{URL: e.URL}
		if HostOf(e.URL) == l.file.announcer {
			found.Changed = e.LastMod
		}
		if l.pages = append(l.pages, found); len(l.pages) == addChunk {
			l.addPages()
		}
	case l.file.depth < sitemap.MaxDepth && !l.has(e.URL):
		if l.full = len(l.more) == l.most; l.full {
			return false
		}
		l.more = append(l.more, auxiliary{kind: l.file.kind, url: e.URL, named: l.file.named, announcer: l.file.announcer, depth: l.file.depth + 1})
	}
	return l.err == nil && !l.interrupted
}

// has reports whether the file listed another file before.
func (l *listed) has(u page.URL) bool {
	return slices.ContainsFunc(l.more, func(a auxiliary) bool { return a.url == u })
}

// addPages adds the pages that were taken since it was last called, unless the crawl
// should end.
func (l *listed) addPages() {
	if len(l.pages) == 0 || l.err != nil {
		return
	}
	if l.interrupted = l.asked.Err() != nil; l.interrupted {
		return
	}
	added, err := l.add(l.pages, l.file.forward-l.forward)
	if err != nil {
		l.err = fmt.Errorf("add the URLs it lists: %w", err)
	}
	l.forward += added.BroughtForward
	l.pages = nil
}
