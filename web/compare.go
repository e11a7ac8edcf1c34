package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/web/assets"
)

// comparePage shows two versions of a page side by side.
type comparePage struct {
	assets.Frame
	URL      page.URL
	Old, New side
	Same     bool // title and text are equal
	Cut      bool // the texts were not compared to their ends
}

// side is one of the two versions of a page in a comparison.
type side struct {
	At        uint64 // 0: now
	FetchedAt time.Time
	Title     []fragment
	Text      []fragment
	Rendered  bool
	Picture   string // the address of its screenshot; "" if there is none
	Doc       string // the address of the page at that moment
	None      string // why there is no text
	read      *inspect.PageText
}

// compare sends a comparison of two moments of a page. The parameters old and new are commit
// timestamps; without new, the second moment is now.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	u, err := urlOf(params)
	if err != nil {
		return err
	}
	view := comparePage{Frame: s.frame(""), URL: u}
	if view.Old.At, err = timestampOf(params, "old"); err != nil {
		return err
	}
	if view.New.At, err = timestampOf(params, "new"); err != nil {
		return err
	}
	if view.Old.At == 0 {
		return badRequest("the parameter old is missing: it must be the timestamp of a version")
	}
	versions, err := s.opts.Inspect.Versions(r.Context(), u)
	if err != nil {
		return fmt.Errorf("versions of %s: %w", u, err)
	}
	for _, side := range []*side{&view.Old, &view.New} {
		if err := s.readSide(r, u, side, versions); err != nil {
			return err
		}
	}
	view.mark()
	return s.show(w, http.StatusOK, "compare.html", &view)
}

// readSide reads what a page said at a moment. A moment without a page is not an error.
func (s *Server) readSide(r *http.Request, u page.URL, v *side, versions []inspect.PageVersion) error {
	v.Doc = address("/doc", u, v.At, "")
	for _, known := range versions { // newest first
		if v.At == 0 || known.TS <= v.At {
			v.FetchedAt = known.FetchedAt
			break
		}
	}
	text, err := s.opts.Inspect.Text(r.Context(), u, v.At)
	switch {
	case errors.Is(err, inspect.ErrNoCopy):
		v.None, v.read = "There was no page, or it is no longer stored.", new(inspect.PageText)
		return nil
	case err != nil:
		return fmt.Errorf("text of %s: %w", u, err)
	}
	v.read, v.Rendered = text, text.Rendered
	if text.Pictured {
		v.Picture = pictureLink(u, v.At)
	}
	return nil
}

// mark marks what the two versions do not have in common.
func (p *comparePage) mark() {
	old, now := p.Old.read, p.New.read
	plain := func(s string) string { return clean(s, maxTitle) }
	p.Old.Title, p.New.Title, _ = differences(plain(old.Title), plain(now.Title))
	p.Old.Text, p.New.Text, p.Cut = differences(old.Text, now.Text)
	for _, list := range [][]fragment{p.Old.Text, p.New.Text} {
		for i := range list {
			list[i].Text = cleanPart(list[i].Text)
		}
	}
	p.Same = p.Old.None == "" && p.New.None == "" && old.Title == now.Title && old.Text == now.Text
}

// compareLink is the address of the comparison of two moments of a page; now is 0 for now.
func compareLink(u page.URL, old, now uint64) string {
	q := url.Values{"url": {string(u)}, "old": {strconv.FormatUint(old, 10)}}
	if now != 0 {
		q.Set("new", strconv.FormatUint(now, 10))
	}
	return "/compare?" + q.Encode()
}

// Changes is the address of the comparison of the i-th version with the next one; "" for the
// newest, for versions that can no longer be read, and if neither has a text.
func (p *documentPage) Changes(i int) string {
	if i == 0 || !p.Versions[i].Readable || !p.Versions[i-1].Readable || !p.Versions[i].HasCopy && !p.Versions[i-1].HasCopy {
		return ""
	}
	return compareLink(p.URL, p.last(i), p.last(i-1))
}
