package page

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// extractor collects the data for a Document in one pass over the tree of a page: its
// directives, title, text and links. It keeps references as written; they are resolved
// afterwards.
type extractor struct {
	title, text, template collapser

	titleOf    *html.Node // the first <title>, which is the one that counts
	hiddenBy   *html.Node // outermost enclosing element with the hidden attribute
	templateOf *html.Node // outermost enclosing <template>

	open   []openLink // enclosing <a href> elements; several if markup is broken
	anchor collapser  // text of the open links
	links  []rawLink
	size   int      // of the links in bytes
	frames []string // src of <frame> and <iframe>

	division division
	headings headings

	directives

	scripting *scripting // nil unless Examine asks
}

// extractors keeps the buffers of extractors for the next page: their contents are
// copied into the Document.
var extractors = sync.Pool{New: func() any { return new(extractor) }}

// keptLinks bounds the list of links that is kept for the next page.
const keptLinks = 4096

// release hands the buffers of x to the next page. Nothing else of x, and no string of the
// page, stays.
func (x *extractor) release() {
	links := x.links[:0]
	if cap(links) > keptLinks {
		links = nil
	}
	clear(x.links)
	*x = extractor{division: x.division.emptied(), title: x.title.emptied(), text: x.text.emptied(), template: x.template.emptied(), anchor: x.anchor.emptied(), links: links}
	extractors.Put(x)
}

// openLink is an <a href> whose end has not been reached. Its anchor begins at
// start in extractor.anchor.
type openLink struct {
	node  *html.Node
	start int
}

// html reads a page.
func (x *extractor) html(body []byte) {
	defer treeTurns.take(len(body))()
	visit(body, x)
}

// enter handles n before its children and reports whether they matter.
func (x *extractor) enter(n *html.Node) bool {
	switch n.Type {
	case html.TextNode:
		x.addText(n.Data)
		return false
	case html.ElementNode:
		return x.enterElement(n)
	case html.DocumentNode:
		return true
	}
	return false
}

func (x *extractor) addText(s string) {
	switch {
	case x.templateOf != nil:
		x.template.write(s)
	case x.hiddenBy != nil:
	default:
		before := len(x.text.buf)
		x.text.write(s)
		if len(x.open) > 0 {
			x.anchor.write(s)
			x.division.linkText += len(x.text.buf) - before
		}
	}
}

// separate ends the current word.
func (x *extractor) separate() {
	switch {
	case x.templateOf != nil:
		x.template.separate()
	case x.hiddenBy != nil:
	default:
		x.text.separate()
		x.anchor.separate()
	}
}

func (x *extractor) enterElement(n *html.Node) bool {
	if separates(n.DataAtom) {
		x.separate()
	}
	if x.templateOf == nil {
		x.directives.read(n)
		x.scripting.enter(n)
	}
	switch n.DataAtom {
	case atom.Script:
		x.enterScript(n)
		return x.skip(n)
	case atom.Iframe:
		x.enterFrame(n)
		return x.skip(n)
	case atom.Style, atom.Noscript, atom.Noembed, atom.Noframes:
		return x.skip(n)
	case atom.Title:
		x.enterTitle(n)
		if !isInBody(n) { // the text of a misplaced title is text of the page, too
			return x.skip(n)
		}
	case atom.Template:
		if x.templateOf == nil {
			x.templateOf = n
			x.template.separate()
		}
		return true
	}
	if x.templateOf != nil {
		return true // elements in a template are not part of the document
	}
	if _, hidden := attribute(n, "hidden"); hidden && x.hiddenBy == nil {
		x.hiddenBy = n
	}
	if x.hiddenBy == nil {
		x.division.enter(n, len(x.text.buf))
		x.headings.enter(n, len(x.text.buf))
	}
	x.enterMeaningful(n)
	return true
}

// skip leaves out what is inside n, except directives: in SVG, even a <style> can hold
// elements.
func (x *extractor) skip(n *html.Node) bool {
	if x.templateOf == nil {
		x.directives.readInside(n)
	}
	return false
}

// enterMeaningful handles elements that contribute more than their text.
func (x *extractor) enterMeaningful(n *html.Node) {
	switch n.DataAtom {
	case atom.Frame:
		x.enterFrame(n)
	case atom.A:
		if _, ok := attribute(n, "href"); ok {
			x.open = append(x.open, openLink{n, len(x.anchor.buf)})
		}
	case atom.Area:
		if ref, ok := attribute(n, "href"); ok && follows(n) {
			alt, _ := attribute(n, "alt")
			x.addLink(ref, cut(collapse(alt), MaxAnchorLength))
		}
	case atom.Img:
		if alt, _ := attribute(n, "alt"); alt != "" && len(x.open) > 0 && x.hiddenBy == nil {
			x.anchor.separate()
			x.anchor.write(alt)
			x.anchor.separate()
		}
	}
}

// enterTitle takes the first <title> of the document. Titles inside SVG are tooltips.
func (x *extractor) enterTitle(n *html.Node) {
	if n.Namespace != "" || x.titleOf != nil || x.templateOf != nil {
		return
	}
	x.titleOf = n
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			x.title.write(c.Data)
		}
	}
}

// isInBody reports whether a <title> is misplaced. It also works for visitTags, which has no <head>
// if the page has none.
func isInBody(title *html.Node) bool {
	parent := title.Parent
	return parent != nil && parent.Type != html.DocumentNode && parent.DataAtom != atom.Head && parent.DataAtom != atom.Html
}

// enterScript takes the text of scripts that are templates.
func (x *extractor) enterScript(n *html.Node) {
	mediaType, _ := attribute(n, "type")
	if !isTemplateType(essence(mediaType)) {
		return
	}
	x.template.separate()
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		x.template.write(c.Data)
	}
	x.template.separate()
}

// leave handles n after its children.
func (x *extractor) leave(n *html.Node) {
	if n.Type != html.ElementNode {
		return
	}
	if separates(n.DataAtom) {
		x.separate()
	}
	x.division.leave(n, len(x.text.buf))
	x.headings.leave(n, x.text.buf)
	switch {
	case n == x.templateOf:
		x.template.separate()
		x.templateOf = nil
	case n == x.hiddenBy:
		x.hiddenBy = nil
	}
	if last := len(x.open) - 1; last >= 0 && x.open[last].node == n {
		x.division.leaveLink(n)
		x.leaveLink(x.open[last])
		x.open = x.open[:last]
		if last == 0 {
			x.anchor = collapser{buf: x.anchor.buf[:0]}
		}
	}
}

func (x *extractor) leaveLink(l openLink) {
	if !follows(l.node) {
		return
	}
	ref, _ := attribute(l.node, "href")
	// Nested links share the text, so copy only as much as is kept.
	text := x.anchor.buf[l.start:]
	anchor := strings.TrimPrefix(string(text[:min(len(text), 1+utf8.UTFMax*MaxAnchorLength)]), " ")
	x.addLink(ref, cut(anchor, MaxAnchorLength))
}

// addLink adds a link, unless there are too many.
func (x *extractor) addLink(ref, anchor string) {
	if x.size += len(ref) + len(anchor); x.size <= maxLinkBytes {
		x.links = append(x.links, rawLink{ref, anchor})
	}
}
