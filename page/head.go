package page

import (
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// directives are what a page says about itself in elements that are not shown.
// References are kept as written and resolved afterwards.
type directives struct {
	lang       string // of <html>
	baseRef    string // first <base href>
	hasBase    bool
	canonicals []string
	refresh    string // target of the first <meta http-equiv=refresh> if its delay is 0
	hasRefresh bool
	robots     robots
}

// Browsers obey these elements anywhere, even in the body, but not in a <template>, which
// is another document.
var (
	directiveElements = cascadia.MustCompile(`html[lang], base[href], link[rel][href], meta[content]`)
	inTemplate        = cascadia.MustCompile(`template *`)
)

// read takes the directives of a page in document order.
func (d *directives) read(root *html.Node) {
	found := goquery.NewDocumentFromNode(root).FindMatcher(directiveElements).NotMatcher(inTemplate)
	found.Each(func(_ int, s *goquery.Selection) {
		switch goquery.NodeName(s) {
		case "html":
			d.lang, _ = s.Attr("lang")
		case "base":
			if !d.hasBase {
				d.baseRef, d.hasBase = s.AttrOr("href", ""), true
			}
		case "link":
			if hasToken(s.AttrOr("rel", ""), "canonical") {
				d.canonicals = append(d.canonicals, s.AttrOr("href", ""))
			}
		case "meta":
			d.readMeta(s)
		}
	})
}

func (d *directives) readMeta(s *goquery.Selection) {
	content := s.AttrOr("content", "")
	if strings.EqualFold(strings.Trim(s.AttrOr("name", ""), htmlSpace), "robots") {
		d.robots.add(content)
	}
	if d.hasRefresh || !strings.EqualFold(s.AttrOr("http-equiv", ""), "refresh") {
		return
	}
	zero, ref, ok := parseRefresh(content)
	d.hasRefresh = ok
	if ok && zero {
		d.refresh = ref
	}
}
