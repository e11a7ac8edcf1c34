package page

import (
	"bytes"
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// MaxNamedIcons bounds the result of NamedIcons.
const MaxNamedIcons = 2

// maxIconHead is how many bytes of a page are searched for the end of its head.
const maxIconHead = 128 << 10

// NamedIcons returns the URLs of the icons that the head of a page names by <link rel=icon>, or
// else by rel=apple-touch-icon, the best one first: one of about 32 pixels a side. Icons of other
// sites (registrable domains) are left out, and so are those that are never kept, such as SVG.
//
// It returns nothing for fetches that are not HTML pages.
func NamedIcons(f *Fetch) []URL {
	if !f.IsSuccess() || bodyKind(f) != kindHTML {
		return nil
	}
	text := decode(f.Body, f.Header.Get("Content-Type"), kindHTML) // the whole body may tell the character set
	var c iconCollector
	c.collect(html.NewTokenizer(bytes.NewReader(text[:min(len(text), maxIconHead)])))
	encode := QueryEncoder(f)
	base := c.resolver(f.URL)
	slices.SortStableFunc(c.links, func(a, b iconLink) int { return cmp.Compare(a.cost, b.cost) })
	var urls []URL
	for _, link := range c.links {
		u, err := base.Resolve(encode(link.ref))
		if err != nil || u == f.URL || !mayNameIcon(f.URL, u) || slices.Contains(urls, u) {
			continue
		}
		if urls = append(urls, u); len(urls) == MaxNamedIcons {
			break
		}
	}
	return urls
}

// mayNameIcon reports whether a page may name this icon of its site.
func mayNameIcon(self, icon URL) bool {
	switch strings.ToLower(path.Ext(icon.Path())) {
	case ".svg", ".svgz":
		return false
	case ".jpg", ".jpeg":
		if iconClassOf(icon) == otherIcon {
			return false
		}
	}
	return self.Host() == icon.Host() || RegistrableDomain(self.Host()) == RegistrableDomain(icon.Host())
}

// iconLink is a <link> that names an icon.
type iconLink struct {
	ref  string
	cost int // the lower, the better
}

// iconCollector reads the head of a page.
type iconCollector struct {
	directives
	links []iconLink
}

// maxIconLinks bounds the links that are compared. Pages name up to some twenty, for telephones of
// all sizes.
const maxIconLinks = 50

// collect reads tokens until the head ends. Elements in a template are of another document.
func (c *iconCollector) collect(z *html.Tokenizer) {
	templates := 0
	for len(c.links) < maxIconLinks {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		if kind != html.StartTagToken && kind != html.EndTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		t := z.Token()
		end := kind == html.EndTagToken
		switch {
		case t.DataAtom == atom.Template && end:
			templates = max(0, templates-1)
		case t.DataAtom == atom.Template:
			templates++
		case templates > 0:
		case t.DataAtom == atom.Body && !end, t.DataAtom == atom.Head && end:
			return
		case end:
		case t.DataAtom == atom.Base || t.DataAtom == atom.Link:
			c.element(&html.Node{Type: html.ElementNode, DataAtom: t.DataAtom, Data: t.Data, Attr: t.Attr})
		}
	}
}

func (c *iconCollector) element(n *html.Node) {
	if n.DataAtom == atom.Base {
		c.read(n)
		return
	}
	ref, _ := attribute(n, "href")
	if strings.Trim(ref, htmlSpace) == "" {
		return
	}
	if cost, ok := iconCost(n); ok {
		c.links = append(c.links, iconLink{ref, cost})
	}
}

// The costs of an icon that differs from what a browser would show next to a name.
const (
	costOfTouch = 10_000 // for the home screen of a telephone, which is large
	costOfDark  = 20_000 // for dark surroundings
)

// iconCost reports how far an icon is from one that can be shown next to a name, and whether
// a link names an icon at all.
func iconCost(n *html.Node) (cost int, ok bool) {
	rel, _ := attribute(n, "rel")
	switch {
	case hasToken(rel, "icon"):
	case hasToken(rel, "apple-touch-icon"), hasToken(rel, "apple-touch-icon-precomposed"):
		cost = costOfTouch
	default:
		return 0, false
	}
	mediaType, _ := attribute(n, "type")
	if e := essence(mediaType); e != "" && !slices.Contains(namedTypes, e) && !slices.Contains(iconTypes, e) {
		return 0, false
	}
	if media, _ := attribute(n, "media"); strings.Contains(strings.ToLower(media), "dark") {
		cost += costOfDark
	}
	sizes, _ := attribute(n, "sizes")
	return cost + costOfSizes(sizes), true
}

// shownSide is the side that an icon is shown with, in pixels of a fine screen.
const shownSide = 32

// costOfSizes is the distance of the nearest of some sizes ("16x16 32x32") from shownSide. A
// picture that is too small looks worse than one that is too large. An icon without sizes
// usually has several, or a common one.
func costOfSizes(sizes string) int {
	best := math.MaxInt
	for size := range strings.FieldsSeq(strings.ToLower(sizes)) {
		width, _, _ := strings.Cut(size, "x")
		side, err := strconv.ParseUint(width, 10, 12)
		switch {
		case err != nil: // "any", which is for drawings
		case side < shownSide:
			best = min(best, 1000+shownSide-int(side))
		default:
			best = min(best, int(side)-shownSide)
		}
	}
	if best == math.MaxInt {
		return shownSide
	}
	return best
}
