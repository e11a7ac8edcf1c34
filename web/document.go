package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/webindexer/indexer/internal/humanize"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/web/assets"
)

// listSize is the number of list entries on a page, and maxListPage the last page of a
// list. Showing a page costs as much as reading all pages before it, so longer lists
// need `indexer inspect --after`.
const (
	listSize    = 25
	maxListPage = 400
)

// documentPage is the page of one URL, now or at a moment in the past.
type documentPage struct {
	assets.Frame
	*Details
	Versions                   []inspect.PageVersion
	Members, Inlinks, Outlinks pager // of the lists of the same names
	CopyLink                   string
	HasCopy                    bool
	SameHost                   string
	Similar                    *similarView // nil unless the document is in the index now
}

func (s *Server) document(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	u, err := urlOf(params)
	if err != nil {
		return err
	}
	at, err := momentOf(params)
	if err != nil {
		return err
	}
	var numbers [3]int
	for i, name := range []string{"members", "in", "out"} {
		if numbers[i], err = integer(params, name, 1, 1, maxListPage); err != nil {
			return err
		}
	}
	window := func(number int) inspect.Window {
		return inspect.Window{Offset: (number - 1) * listSize, Limit: listSize}
	}
	d, err := s.opts.Inspect.Inspect(r.Context(), u, inspect.Windows{
		Members: window(numbers[0]), LinkingPages: window(numbers[1]), LinkedPages: window(numbers[2]),
	}, at)
	if err != nil {
		return fmt.Errorf("inspect %s: %w", u, err)
	}
	view := documentPage{Frame: s.frame(""), Details: d, SameHost: searchParams{Site: u.Host()}.link()}
	if view.Versions, err = s.opts.Inspect.Versions(r.Context(), u); err != nil {
		return fmt.Errorf("versions of %s: %w", u, err)
	}
	if at.IsNow() && d.Canonical != "" {
		view.Similar = s.similar(r.Context(), d.Canonical)
	}
	view.HasCopy = d.Outcome == page.Page.String() && d.Status/100 == 2 // a newer fetch may wait for the observers
	view.CopyLink = viewLink(u, view.At())
	view.Members = listPager(params, "members", numbers[0], d.MembersTotal)
	view.Inlinks = listPager(params, "in", numbers[1], d.LinkingPagesTotal)
	view.Outlinks = listPager(params, "out", numbers[2], d.LinkedPagesTotal)
	return s.show(w, http.StatusOK, "document.html", &view)
}

// listPager makes the links through one of the lists; the parameter name has the number of its page.
func listPager(params url.Values, name string, number, total int) pager {
	p := newPager("/doc", params, name, number, listSize, min(total, maxListPage*listSize))
	p.Total, p.Of = total, listNames[name]
	p.Beyond = p.Next == "" && total > number*listSize
	for _, link := range []*string{&p.Previous, &p.Next} {
		if *link != "" {
			*link += "#" + name
		}
	}
	return p
}

// listNames are the names of the lists, by their parameters.
var listNames = map[string]string{"members": "URLs", "in": "pages that link here", "out": "pages it links to"}

// viewLink is the address of the page with a stored copy; at is a commit timestamp, 0 for the newest.
func viewLink(u page.URL, at uint64) string { return address("/view", u, at, "") }

// address is that of a path of this server with the parameters url, at (unless it is 0) and view
// (unless it is empty).
func address(path string, u page.URL, at uint64, view string) string {
	q := url.Values{"url": {string(u)}}
	if at != 0 {
		q.Set("at", strconv.FormatUint(at, 10))
	}
	if view != "" {
		q.Set("view", view)
	}
	return path + "?" + q.Encode()
}

// Hops are the URLs of the chain after this one.
func (p *documentPage) Hops() []page.URL {
	if len(p.Chain) < 2 {
		return nil
	}
	return p.Chain[1:]
}

// shownAnchors is how many anchors are shown per linked page.
const shownAnchors = 5

// linkedPage is an entry in a list of pages, with the anchors of its links.
type linkedPage struct {
	inspect.PageLinks
	Doc  string // address of its page
	More int    // number of anchors not shown
}

// LinkedFrom are the pages that link here.
func (p *documentPage) LinkedFrom() []linkedPage { return p.linked(p.LinkingPages) }

// LinksTo are the pages that this one links to.
func (p *documentPage) LinksTo() []linkedPage { return p.linked(p.LinkedPages) }

func (p *documentPage) linked(list []inspect.PageLinks) []linkedPage {
	shown := make([]linkedPage, 0, len(list))
	for _, l := range list {
		more := max(len(l.Anchors)-shownAnchors, 0)
		l.Anchors = l.Anchors[:len(l.Anchors)-more]
		shown = append(shown, linkedPage{l, p.Doc(l.URL), more})
	}
	return shown
}

// OwnRank is the URL's share of its document's rank; nil if it is the whole rank.
func (p *documentPage) OwnRank() *float64 {
	if p.URLRank == nil || *p.URLRank == *p.Rank {
		return nil
	}
	return p.URLRank
}

// Wait is the time between visits, in words.
func (p *documentPage) Wait() string {
	if p.Crawl == nil || p.Crawl.Interval <= 0 {
		return ""
	}
	return humanize.Duration(p.Crawl.Interval)
}
