package page

import (
	"bytes"
	"cmp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A visitor gets the nodes of a page in document order. enter is called before the children of a node, and leave
// after them. If enter returns false for an element that has only text inside (isRawText), its children are left out;
// in a tree, those of any element are. Not all nodes have their children, but these elements do.
type visitor interface {
	enter(n *html.Node) bool
	leave(n *html.Node)
}

// visit parses HTML, in UTF-8, as a browser does. It never fails: x/net/html refuses pages nested
// more than 512 elements deep, which broken generators make with unclosed tags; these are read
// by visitTags, and so are pages of which it leaves out a part, or for which it takes too long.
//
// The walk is a loop and not a recursion, because hostile pages nest without limit. It takes the tree
// apart as it goes: the tree of a page with a million links has 350 MB, and what is collected comes on
// top of it.
func visit(body []byte, v visitor) {
	body = trimTags(body)
	n := parse(body)
	if n == nil {
		visitTags(body, v)
	}
	for n != nil {
		if v.enter(n) && n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for ; n != nil; n = n.Parent {
			v.leave(n)
			if next := n.NextSibling; next != nil {
				n.Parent.FirstChild, next.PrevSibling = next, nil
				n = next
				break
			}
		}
	}
}

// parse returns the tree of a page, or nil if visitTags has to read it.
func parse(body []byte) *html.Node {
	if takesLong(body) {
		return nil
	}
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil || isCutShort(root, body) {
		return nil
	}
	return root
}

// ParseTree returns the tree of a page, parsed as visit does. It may be very deep.
func ParseTree(body []byte) *html.Node {
	body = trimTags(body)
	root := parse(body)
	if root == nil {
		root = &html.Node{Type: html.DocumentNode}
		visitTags(body, builder{root})
	}
	return root
}

// builder makes a tree of what visitTags visits.
type builder struct{ root *html.Node }

func (b builder) enter(n *html.Node) bool {
	parent := cmp.Or(n.Parent, b.root)
	n.Parent = nil
	parent.AppendChild(n)
	return false // its text is already inside
}

func (b builder) leave(*html.Node) {}

// Products above which x/net/html takes too long.
const (
	mostRoots     = 8
	mostCopying   = 64 << 20 // of more than mostRoots <html> and <body> tags with attributes, and bytes
	mostSearching = 1 << 30  // of tags, and markers (isMarker) or the attributes of an <annotation-xml>
)

// mostTags bounds the tree of a page. A tag and its text have two nodes of 112 bytes. Three attributes count
// as a tag.
const mostTags = 2 << 20

// takesLong reports whether x/net/html may take minutes or gigabytes for a page.
//
//   - A page with more than mostTags, or as many attributes, would have a tree of up to two gigabytes.
//   - For each further <html> or <body>, it goes through all attributes that the earlier ones have had:
//     a page of a mebibyte of such tags takes about five minutes.
//   - For a tag, it may go through all markers: two seconds for a mebibyte, half an hour for 32 MiB.
//   - For each tag, text and comment in an <annotation-xml>, it may go through all attributes of that: eight
//     seconds for half a mebibyte, hours for 32 MiB.
//   - For an end tag, it may go through all open elements (endtags.go).
//   - For the memory, see formatting.go.
//
// Most pages have too few tags of any kind.
func takesLong(body []byte) bool {
	tags := bytes.Count(body, []byte{'<'})
	if left := mostTags - tags; left < 0 || len(body)/2 > 3*left && hasManyAttributes(body, 3*left) {
		return true
	}
	if tags*len(body) > mostCopying {
		if roots := countTags(body, isRootWithAttributes); roots > mostRoots && roots*len(body) > mostCopying {
			return true
		}
	}
	return tags*tags > mostSearching && tags*countTags(body, isMarker) > mostSearching ||
		tags*len(body)/2 > mostSearching && searchesAnnotations(body, tags) || searchesStart(body) || takesMuch(body, tags)
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

func isVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Img, atom.Input,
		atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
