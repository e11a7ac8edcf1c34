package page

import (
	"bytes"
	"net/url"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// headings collects the sections of a page: headings, and terms of lists of definitions, that
// have an id.
//
// The id of a heading is, in this order: its own, that of its permalink, the first one inside
// it, and that of an element that begins right before it with no text in between. Generators
// of documentation use each of these.
type headings struct {
	list []Section

	// The last element with an id, and where it begins.
	id   string
	idAt int

	open      *html.Node // the heading whose end has not been reached
	current   Section
	own       bool // the heading has an id of its own or of its permalink
	permalink *html.Node
	linkAt    int // where the text of a link to a fragment begins
	end       int // of the title, if a permalink follows it; else 0
}

// enter begins an element at a place of the text.
func (h *headings) enter(n *html.Node, at int) {
	id, _ := attribute(n, "id")
	if id == "" && n.DataAtom == atom.A {
		id, _ = attribute(n, "name")
	}
	level := headingLevel(n.DataAtom)
	if h.open == nil && level > 0 {
		h.open, h.current, h.own, h.end, h.permalink = n, Section{ID: id, Title: Range{at, at}, Level: level}, id != "", 0, nil
		if id == "" && h.idAt == at {
			h.current.ID = h.id
		}
		if level == termLevel && id == "" {
			h.open = nil // a list of definitions has many terms without
		}
		return
	}
	if id != "" {
		h.id, h.idAt = id, at
	}
	if h.open == nil {
		return
	}
	if h.current.ID == "" {
		h.current.ID = id
	}
	if n.DataAtom == atom.A && isFragment(n) {
		h.permalink, h.linkAt = n, at
	}
}

// leave ends an element.
func (h *headings) leave(n *html.Node, text []byte) {
	switch n {
	case h.permalink:
		h.leavePermalink(n, text)
	case h.open:
		h.leaveHeading(text)
	}
}

// leavePermalink ends a link to a fragment inside a heading. If its text is a sign, such as
// ¶, the title ends before it, or begins after it.
func (h *headings) leavePermalink(n *html.Node, text []byte) {
	h.permalink = nil
	if !isSign(bytes.TrimSpace(text[h.linkAt:])) {
		return
	}
	if title := &h.current.Title; len(bytes.TrimSpace(text[title.Start:h.linkAt])) == 0 {
		title.Start = len(text)
	} else {
		h.end = h.linkAt
	}
	if !h.own {
		ref, _ := attribute(n, "href")
		if id, err := url.PathUnescape(ref[1:]); err == nil {
			h.current.ID, h.own = id, true
		}
	}
}

// isSign reports whether the text of a link is one or two characters that are not words.
func isSign(text []byte) bool {
	return utf8.RuneCount(text) <= 2 && (len(text) == 0 || !isAlnum(text[0]))
}

func (h *headings) leaveHeading(text []byte) {
	h.open = nil
	s := h.current
	s.Title.End = len(text)
	if h.end > s.Title.Start {
		s.Title.End = h.end
	}
	s.Title = trimHeading(s.Title, text)
	if s.Title.Start < s.Title.End && s.ID != "" && len(s.ID) <= maxSectionID && utf8.ValidString(s.ID) && len(h.list) < MaxSections {
		h.list = append(h.list, s)
	}
}

// trimHeading drops white space at both ends of a title, and what is too long.
func trimHeading(r Range, text []byte) Range {
	if r.End-r.Start > maxHeading {
		for r.End = r.Start + maxHeading; !utf8.RuneStart(text[r.End]); {
			r.End--
		}
	}
	if t := (ranges{r}).trimmed(text); len(t) > 0 {
		return t[0]
	}
	return Range{r.Start, r.Start}
}

// in returns the sections that begin in the main content.
func (h *headings) in(main ranges) []Section {
	if main == nil {
		return h.list
	}
	kept := h.list[:0]
	for _, s := range h.list {
		if main.has(s.Title.Start) {
			kept = append(kept, s)
		}
	}
	return kept
}

func headingLevel(a atom.Atom) int {
	switch a {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	case atom.Dt:
		return termLevel
	}
	return 0
}
