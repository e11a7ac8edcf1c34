package feed

import (
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/webindexer/indexer/export"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// MaxPages bounds the pages of one WACZ. Memory holds one line for each of their resources.
const MaxPages = 1000

// archiveHops bounds the redirects that are followed to a page or resource, as in a crawl.
const archiveHops = 10

// archive writes pages with what they show as a WACZ.
func (e *exporter) archive(urls []page.URL) error {
	if len(urls) == 0 || len(urls) > MaxPages {
		return fmt.Errorf("a WACZ has 1 to %d pages, not %d", MaxPages, len(urls))
	}
	a := &archiver{exporter: e, out: export.NewWACZ(e.w), seen: make(map[page.URL]bool)}
	listed := make(map[page.URL]bool)
	for _, u := range urls {
		if listed[u] {
			continue // a page has only one line: readers expect its id to be unique
		}
		listed[u] = true
		a.tell("%d of %d pages written", a.res.Documents, len(urls))
		if err := a.page(u); err != nil {
			return err
		}
	}
	return a.out.Close()
}

// archiver writes the fetches in force of pages and of their resources, each once.
type archiver struct {
	*exporter
	out  *export.WACZ
	seen map[page.URL]bool
}

// page adds a page and its resources. A URL that redirects is also a page: replay tools follow
// the stored redirects.
func (a *archiver) page(u page.URL) error {
	last, err := a.follow(u)
	if err != nil {
		return err
	}
	if last == nil || isGone(last) {
		return fmt.Errorf("%s: no copy of the page is stored; `indexer inspect` says why", u)
	}
	text, err := observers.TextOf(a.ctx, a.reader.Document(), last.URL)
	if err != nil {
		return err
	}
	first, _, err := a.fetch(u)
	if err != nil {
		return err
	}
	a.out.AddPage(u, first.Time, text.Title)
	a.res.Documents++
	resources, err := a.resources(last)
	if err != nil {
		return err
	}
	for _, r := range resources {
		if _, err := a.follow(r); err != nil {
			return err
		}
	}
	return nil
}

// follow adds a URL and the redirects that lead on from it. It returns the fetch at the end, or
// nil if that is not stored with its body.
func (a *archiver) follow(u page.URL) (*page.Fetch, error) {
	for range archiveHops + 1 {
		f, whole, err := a.fetch(u)
		if err != nil {
			return nil, err
		}
		if !whole {
			if !a.seen[u] {
				a.res.Missing++
				a.seen[u] = true
			}
			return nil, nil
		}
		if !a.seen[u] {
			a.seen[u] = true
			a.res.Captures++
			if err := a.out.Add(f); err != nil {
				return nil, err
			}
		}
		if !f.IsRedirect() {
			return f, nil
		}
		if u = page.Interpret(f).Target; u == "" {
			return nil, nil // a redirect to another scheme has no capture
		}
	}
	return nil, nil
}

// fetch reads the fetch in force of a URL, or nil if there is none. The fetch is whole if a
// browser would do the same with what is stored as with the response: a redirect, a success
// whose body is stored, or a response that says that there is nothing. Bodies of the last kind
// are not stored, and renderings had none. A PDF document counts as whole with its text.
func (a *archiver) fetch(u page.URL) (f *page.Fetch, whole bool, err error) {
	tx := a.reader.Document()
	stored, err := schema.ReadInForce(a.ctx, tx, u)
	if err != nil || stored == nil {
		return nil, false, err
	}
	stamp, exists, err := schema.ReadFetchStamp(a.ctx, tx, u)
	if err != nil || !exists {
		return nil, false, err
	}
	f = &stored.Fetch
	f.Time = stamp.Time
	switch {
	case !f.IsSuccess():
		return f, f.IsRedirect() || isGone(f), nil
	case f.Reading.Failed: // the reason is stored
		return f, false, nil
	}
	whole, err = stored.ReadBody(a.ctx, tx)
	return f, whole || stored.Sum == sha256.Sum256(nil), err
}

func isGone(f *page.Fetch) bool {
	return f.Status == http.StatusNotFound || f.Status == http.StatusGone
}

// resources returns the resources of a page: those that it requested when it was rendered,
// or those that its HTML names.
func (a *archiver) resources(f *page.Fetch) ([]page.URL, error) {
	form, err := observers.FormOf(a.ctx, a.reader.Document(), f.URL)
	if err != nil || form == nil || len(form.Inputs) == 0 {
		return page.Subresources(f), err
	}
	urls := make([]page.URL, 0, len(form.Inputs))
	for _, i := range form.Inputs {
		urls = append(urls, i.URL)
	}
	return urls, nil
}
