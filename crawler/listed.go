package crawler

import (
	"fmt"

	"github.com/webindexer/indexer/crawler/sitemap"
)

// listed is what a sitemap or feed lists. Its pages are added some at a time, while the
// file is read: there may be 50 MiB of them.
type listed struct {
	file *auxiliary
	add  func(pages []Found, forward int) (Added, error)

	pages   []Found     // not added yet
	more    []auxiliary // the files that it lists
	forward int         // visits that were brought forward
	err     error
}

// addChunk is how many URLs are added at a time.
const addChunk = 1000

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
	case l.file.depth < sitemap.MaxDepth:
		l.more = append(l.more, auxiliary{kind: l.file.kind, url: e.URL, announcer: l.file.announcer, depth: l.file.depth + 1})
	}
	return l.err == nil
}

// addPages adds the pages that were taken since it was last called.
func (l *listed) addPages() {
	if len(l.pages) == 0 || l.err != nil {
		return
	}
	added, err := l.add(l.pages, l.file.forward-l.forward)
	if err != nil {
		l.err = fmt.Errorf("add the URLs it lists: %w", err)
	}
	l.forward += added.BroughtForward
	l.pages = nil
}
