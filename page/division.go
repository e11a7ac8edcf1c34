package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// division divides the text of a page into main content and the rest while the extractor
// walks over its tree.
//
// It first trusts what the page says about itself: landmarks, by element, role and usual
// names. Besides, an element with little text outside links is a list of links, and one
// whose links lead to the page itself is a list of contents. All of that holds in any
// language.
//
// A wrong division loses nothing: all of the text stays searchable, and each step is
// undone if it leaves too little (main).
//
// The tree is walked once and taken apart on the way, so an element is judged when it ends,
// by what has been counted since it began.
type division struct {
	open   []openElement
	inMain int // open mains and articles

	mains, articles, rest, doubtful, lists ranges

	linkText         int // bytes of text in links so far
	links, fragments int // how many links there were, and how many of them to the page itself
}

// openElement is an element whose end has not been reached, and the counts at its beginning.
type openElement struct {
	node             *html.Node
	kind             landmark
	start            int
	linkText         int
	links, fragments int
}

// enter begins an element at a place of the text.
func (d *division) enter(n *html.Node, at int) {
	kind := landmarkOf(n, d.inMain > 0)
	if kind == notContainer {
		return
	}
	if kind == mainLandmark || kind == articleLandmark {
		d.inMain++
	}
	d.open = append(d.open, openElement{n, kind, at, d.linkText, d.links, d.fragments})
}

// leave ends an element.
func (d *division) leave(n *html.Node, at int) {
	last := len(d.open) - 1
	if last < 0 || d.open[last].node != n {
		return
	}
	e := &d.open[last]
	d.open = d.open[:last]
	r := Range{e.start, at}
	switch e.kind {
	case mainLandmark:
		d.inMain--
		d.mains = d.mains.enclose(r)
	case articleLandmark:
		d.inMain--
		d.articles = d.articles.enclose(r)
	case restLandmark:
		d.rest = d.rest.enclose(r)
	case doubtfulLandmark:
		if 3*(d.linkText-e.linkText) >= at-e.start {
			d.rest = d.rest.enclose(r)
		} else {
			d.doubtful = d.doubtful.enclose(r)
		}
	case container:
		d.judge(e, r)
	}
}

// An element with at least longLink bytes of text for each link is running text with links,
// not a list of links.
const longLink = 120

// judge finds lists of links and lists of contents.
func (d *division) judge(e *openElement, r Range) {
	size, links, inLinks := r.End-r.Start, d.links-e.links, d.linkText-e.linkText
	least := 3
	switch e.node.DataAtom {
	case atom.P, atom.Span:
		return
	case atom.Td, atom.Tbody: // a signature may be all links
		least = 6
	}
	if links < least || size > longLink*links {
		return
	}
	if d.fragments-e.fragments == links && 3*inLinks >= size {
		d.rest = d.rest.enclose(r)
	} else if 3*inLinks >= 2*size {
		d.lists = d.lists.enclose(r)
	}
}

// leaveLink counts a link.
func (d *division) leaveLink(n *html.Node) {
	d.links++
	if isFragment(n) {
		d.fragments++
	}
}

// isFragment reports whether a link leads to its own page.
func isFragment(link *html.Node) bool {
	ref, _ := attribute(link, "href")
	return len(ref) > 1 && ref[0] == '#'
}

// main returns the main content of the text, nil if that is all of it.
func (d *division) main(text []byte) ranges {
	whole := ranges{{0, len(text)}}
	body := whole.without(d.rest)
	main := body
	if m := body.without(whole.without(d.mains)).trimmed(text); len(m) > 0 {
		main = m
	} else if m := body.without(whole.without(d.articles)).trimmed(text); len(m) > 0 && 3*m.size() >= body.size() {
		main = m
	} else if body.size() < enough && 5*body.size() < len(text) {
		return nil // nearly all is navigation, and nothing says that it is not the content
	}
	if m := main.without(d.doubtful); 2*m.size() >= main.size() || m.size() >= plenty {
		main = m
	}
	if m := main.without(d.lists); 4*m.size() >= main.size() || m.size() >= plenty {
		main = m
	}
	main = main.trimmed(text).joined(MaxMainRanges)
	if len(main) == 1 && main[0] == whole[0] {
		return nil
	}
	return main
}

// The main content must have enough bytes, or a sufficient share of all bytes. With very
// many bytes, the share does not matter.
const (
	enough = 250
	plenty = 1000
)

// emptied returns an empty division with the buffers of d.
func (d *division) emptied() division {
	clear(d.open[:cap(d.open)])
	if cap(d.open) > keptElements {
		return division{}
	}
	return division{
		open: d.open[:0], mains: d.mains.kept(), articles: d.articles.kept(),
		rest: d.rest.kept(), doubtful: d.doubtful.kept(), lists: d.lists.kept(),
	}
}

// keptElements bounds the lists that are kept for the next page.
const keptElements = 1024
