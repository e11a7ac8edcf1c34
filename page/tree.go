package page

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// ParseTree parses HTML, in UTF-8, as a browser does. It never fails: x/net/html refuses pages nested
// more than 512 elements deep, which broken generators make with unclosed tags; these get
// a flatTree, and so do pages of which it leaves out a part, or for which it takes too long.
func ParseTree(body []byte) *html.Node {
	if takesLong(body) {
		return flatTree(body)
	}
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil || isCutShort(root, body) {
		return flatTree(body)
	}
	return root
}

// Products above which x/net/html takes too long.
const (
	mostRoots     = 8
	mostCopying   = 64 << 20 // of more than mostRoots <html> and <body> tags with attributes, and bytes
	mostSearching = 1 << 30  // of tags, and markers (isMarker) or the attributes of an <annotation-xml>
)

// takesLong reports whether x/net/html may take minutes or gigabytes for a page.
//
//   - For each further <html> or <body>, it goes through all attributes that the earlier ones have had:
//     a page of a mebibyte of such tags takes about five minutes.
//   - For a tag, it may go through all markers: two seconds for a mebibyte, half an hour for 32 MiB.
//   - For each tag, text and comment in an <annotation-xml>, it may go through all attributes of that: eight
//     seconds for half a mebibyte, hours for 32 MiB.
//   - For the memory, see formatting.go.
//
// Most pages have too few tags of any kind.
func takesLong(body []byte) bool {
	tags := bytes.Count(body, []byte{'<'})
	if tags*len(body) > mostCopying {
		if roots := countTags(body, isRootWithAttributes); roots > mostRoots && roots*len(body) > mostCopying {
			return true
		}
	}
	return tags*tags > mostSearching && tags*countTags(body, isMarker) > mostSearching ||
		tags*len(body)/2 > mostSearching && searchesAnnotations(body, tags) || takesMuch(body, tags)
}

// countTags counts the tags of some kind. is gets the text after a "<".
func countTags(body []byte, is func(tag []byte) bool) (n int) {
	for rest, found := body, true; found; {
		if _, rest, found = bytes.Cut(rest, []byte{'<'}); is(rest) {
			n++
		}
	}
	return n
}

// isRootWithAttributes reports whether the text after a "<" is that of an <html> or <body> tag which
// may have attributes. Tags in comments and scripts count, too, which does no harm.
func isRootWithAttributes(tag []byte) bool {
	const name = len("html")
	if len(tag) <= name || tag[0]|0x20 != 'h' && tag[0]|0x20 != 'b' || !bytes.EqualFold(tag[:name], []byte("html")) && !bytes.EqualFold(tag[:name], []byte("body")) {
		return false
	}
	return bytes.IndexByte([]byte(" \t\n\f\r/"), tag[name]) >= 0
}

// isMarker reports whether the text after a "<" is the tag of an element that begins a new list of
// formatting elements. x/net/html forgets to end the list of one that ends with a <template> around it.
func isMarker(tag []byte) bool {
	if len(tag) == 0 {
		return false
	}
	var name string
	switch tag[0] | 0x20 {
	case 'a':
		name = "applet"
	case 'm':
		name = "marquee"
	case 'o':
		name = "object"
	case 't':
		name = "template"
	default:
		return false
	}
	n := len(name)
	return len(tag) > n && endsName(tag[n]) && strings.EqualFold(string(tag[:n]), name)
}

// searchesAnnotations reports whether an <annotation-xml> has too many attributes for a page with that many
// tags. The tags that it reads do not overlap, except in scripts, comments and hostile pages, so they are
// hardly longer than the page.
func searchesAnnotations(body []byte, tags int) bool {
	const name = "annotation-xml"
	left := 8 * len(body)
	for rest, found := body, true; found; {
		if _, rest, found = bytes.Cut(rest, []byte{'<'}); len(rest) <= len(name) || !strings.EqualFold(string(rest[:len(name)]), name) {
			continue
		}
		attributes, length := readAttributes(rest[len(name):])
		if left -= length; left < 0 || attributes*tags > mostSearching {
			return true
		}
	}
	return false
}

// isCutShort reports whether x/net/html left out the rest of a page. It does so from a
// <template> on that is in HTML inside SVG or MathML, such as in a <foreignObject>. The tree
// then ends there, and has fewer templates than the page.
func isCutShort(root *html.Node, body []byte) bool {
	if !endsInForeign(root) {
		return false
	}
	missing := countTemplates(body)
	for n := range root.Descendants() {
		if n.DataAtom == atom.Template {
			missing--
		}
	}
	return missing > 0
}

// endsInForeign reports whether the last node of a tree is inside SVG or MathML.
func endsInForeign(root *html.Node) bool {
	for n := root; n != nil; n = n.LastChild {
		if n.Namespace != "" {
			return true
		}
	}
	return false
}

func countTemplates(body []byte) (n int) {
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return n
		case html.StartTagToken, html.SelfClosingTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == atom.Template {
				n++
			}
		}
	}
}

// Beyond flatDepth, a flatTree opens only links and elements without visible text. Beyond
// flatLimit, it opens nothing.
const (
	flatDepth = 256
	flatLimit = 320
)

// flatTree returns the tree of tags as written, without the standard's repairs and with
// limited depth: deeper nodes become children of the deepest element. Titles, links,
// directives and text keep their order.
func flatTree(body []byte) *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	open := []*html.Node{root}
	z := html.NewTokenizer(bytes.NewReader(body))
	for {
		parent := open[len(open)-1]
		switch z.Next() {
		case html.ErrorToken:
			return root
		case html.TextToken:
			parent.AppendChild(&html.Node{Type: html.TextNode, Data: z.Token().Data})
		case html.StartTagToken:
			n := elementOf(z.Token())
			parent.AppendChild(n)
			if !isVoid(n.DataAtom) && (len(open) < flatDepth || len(open) < flatLimit && mustOpen(n)) {
				open = append(open, n)
			}
		case html.SelfClosingTagToken:
			parent.AppendChild(elementOf(z.Token()))
		case html.EndTagToken:
			t := z.Token()
			if len(open) >= flatDepth && separates(t.DataAtom) {
				// The element may not be open, but its end still separates words.
				parent.AppendChild(elementOf(html.Token{Data: "br", DataAtom: atom.Br}))
			}
			open = closeElement(open, t.Data)
		}
	}
}

func elementOf(t html.Token) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: t.Data, DataAtom: t.DataAtom, Attr: t.Attr}
}

func mustOpen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.A, atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Title, atom.Iframe, atom.Noembed, atom.Noframes:
		return true
	}
	_, hidden := attribute(n, "hidden")
	return hidden
}

// closeElement closes the innermost open element of that name and all elements inside it.
// It ignores an end tag without a start tag.
func closeElement(open []*html.Node, name string) []*html.Node {
	for i := len(open) - 1; i > 0; i-- {
		if open[i].Data == name {
			return open[:i]
		}
	}
	return open
}

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Img, atom.Input,
		atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
