package page

import (
	"math"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// MaxSubresources bounds the result of Subresources. A page that names more than this is broken or
// hostile; real pages name a few dozen.
const MaxSubresources = 500

// Subresources returns the URLs of the scripts, style sheets and images that the HTML of a page
// names plainly, without repetitions, in the order of the page: what a browser loads before
// any script has run. It does not know what style sheets and scripts load in turn.
//
// It returns nothing for fetches that are not HTML pages.
func Subresources(f *Fetch) []URL {
	if !f.IsSuccess() || bodyKind(f) != kindHTML {
		return nil
	}
	contentType := f.Header.Get("Content-Type")
	body := asHTML(decode(f.Body, contentType, kindHTML), contentType)
	defer treeTurns.take(len(body))()
	var c resourceCollector
	visit(body, &c)
	encode := queryEncoder(f.Body, contentType)
	for i, ref := range c.refs {
		c.refs[i] = encode(ref)
	}
	return distinctURLs(f.URL, c.resolver(f.URL), c.refs, MaxSubresources, math.MaxInt)
}

type resourceCollector struct {
	directives // only <base>
	refs       []string
	template   *html.Node // the outermost one that is open
}

// enter passes over what is in templates, which are other documents.
func (c *resourceCollector) enter(n *html.Node) bool {
	switch {
	case c.template != nil:
	case n.DataAtom == atom.Template:
		c.template = n
	case n.Type == html.ElementNode:
		c.element(n)
	}
	return true
}

func (c *resourceCollector) leave(n *html.Node) {
	if n == c.template {
		c.template = nil
	}
}

func (c *resourceCollector) element(n *html.Node) {
	name := "src"
	switch n.DataAtom {
	case atom.Base:
		c.read(n)
		return
	case atom.Link:
		if !loadsLink(n) {
			return
		}
		name = "href"
	case atom.Script, atom.Img:
	default:
		return
	}
	if ref, _ := attribute(n, name); strings.Trim(ref, htmlSpace) != "" {
		c.refs = append(c.refs, ref)
	}
}

// loadsLink reports whether a browser loads what a <link> names in order to show the page.
func loadsLink(n *html.Node) bool {
	rel, _ := attribute(n, "rel")
	if hasToken(rel, "alternate") {
		return false // a style sheet that a reader would have to choose
	}
	return hasToken(rel, "stylesheet") || hasToken(rel, "modulepreload") || hasToken(rel, "preload")
}
