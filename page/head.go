package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// directives are what a page says about itself in elements that are not shown.
// References are kept as written and resolved afterwards.
type directives struct {
	lang       string // of <html>, the first one in a page without a tree
	hasLang    bool
	baseRef    string // first <base href>
	hasBase    bool
	canonicals []string
	alternates []rawAlternate
	refresh    string // target of the first <meta http-equiv=refresh> if its delay is 0
	hasRefresh bool
	robots     robots
}

// Browsers obey these elements anywhere, even in the body, but not in a <template>, which
// is another document.

// read takes the directive of an element that is in no template. Callers pass the elements
// in document order.
func (d *directives) read(n *html.Node) {
	switch n.DataAtom {
	case atom.Html:
		if lang, ok := attribute(n, "lang"); ok && !d.hasLang && n.Namespace == "" {
			d.lang, d.hasLang = lang, true
		}
	case atom.Base:
		if ref, ok := anyAttribute(n, "href"); ok && !d.hasBase {
			d.baseRef, d.hasBase = ref, true
		}
	case atom.Link:
		if ref, ok := anyAttribute(n, "href"); ok {
			if rel, _ := anyAttribute(n, "rel"); hasToken(rel, "canonical") {
				d.canonicals = append(d.canonicals, ref)
			}
		}
		d.readAlternate(n)
	case atom.A:
		d.readAlternate(n)
	case atom.Meta:
		if content, ok := anyAttribute(n, "content"); ok {
			d.readMeta(n, content)
		}
	}
}

// readInside takes the directives of the elements inside n. Depth is no danger here: the
// trees of x/net/html are at most 512 deep, and visitTags has no elements inside those that are left out.
func (d *directives) readInside(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		d.read(c)
		if c.DataAtom != atom.Template {
			d.readInside(c)
		}
	}
}

func (d *directives) readMeta(n *html.Node, content string) {
	name, _ := anyAttribute(n, "name")
	if strings.EqualFold(strings.Trim(name, htmlSpace), "robots") {
		d.robots.add(content)
	}
	equiv, _ := anyAttribute(n, "http-equiv")
	if d.hasRefresh || !strings.EqualFold(equiv, "refresh") {
		return
	}
	zero, ref, ok := parseRefresh(content)
	d.hasRefresh = ok
	if ok && zero {
		d.refresh = ref
	}
}

// anyAttribute is like [attribute], but accepts an attribute of any namespace, such as
// xlink:href in SVG.
func anyAttribute(n *html.Node, name string) (value string, ok bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == name {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}
