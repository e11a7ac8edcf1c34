package sitemap

import (
	"slices"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"github.com/webindexer/indexer/page"
)

// MaxReferences is the number of references taken from one page; even sites in every
// language of the world have fewer.
const MaxReferences = 500

// Relation is what a reference is to its page.
type Relation uint8

// The relations that Discover looks for.
const (
	// FeedOf is a feed of the page or its site: rel=alternate with the type of RSS
	// or Atom.
	FeedOf Relation = iota
	// NextOf is the next page of a series: rel=next.
	NextOf
	// TranslationOf is the page in another language: rel=alternate with hreflang.
	TranslationOf
)

// String returns "feed", "next" or "translation".
func (r Relation) String() string {
	names := [...]string{"feed", "next", "translation"}
	if int(r) < len(names) {
		return names[r]
	}
	return "unknown"
}

// Reference is a URL that a page names by a <link>, for programs. The crawl discovers
// it, but it is not a link of docs/semantics.md section 3: it has no anchor and does
// not count for ranks.
type Reference struct {
	URL      page.URL
	Relation Relation
}

var (
	linkElements = cascadia.MustCompile(`link[rel][href]`)
	baseElement  = cascadia.MustCompile(`base[href]`)
	inTemplate   = cascadia.MustCompile(`template *`)
)

// Discover returns the feeds, next pages and translations that the page at self names,
// in order, without duplicates and without the page itself. It skips references that
// cannot be resolved or have rel=nofollow. encode is page.QueryEncoder's.
func Discover(self page.URL, root *html.Node, encode func(ref string) string) []Reference {
	doc := goquery.NewDocumentFromNode(root)
	base := resolverFor(self, doc, encode)
	var found []Reference
	seen := make(map[Reference]bool)
	doc.FindMatcher(linkElements).NotMatcher(inTemplate).EachWithBreak(func(_ int, s *goquery.Selection) bool {
		relation, ok := relationOf(s)
		if !ok {
			return true
		}
		u, err := base.Resolve(encode(s.AttrOr("href", "")))
		r := Reference{u, relation}
		if err != nil || u == self || seen[r] {
			return true
		}
		seen[r] = true
		found = append(found, r)
		return len(found) < MaxReferences
	})
	return found
}

// resolverFor respects the first <base href>, as browsers do.
func resolverFor(self page.URL, doc *goquery.Document, encode func(ref string) string) *page.Resolver {
	base := doc.FindMatcher(baseElement).NotMatcher(inTemplate).First()
	if u, err := self.Resolve(encode(base.AttrOr("href", ""))); err == nil {
		return page.NewResolver(u)
	}
	return page.NewResolver(self)
}

// relationOf returns what the target of a <link> is to its page.
func relationOf(s *goquery.Selection) (r Relation, ok bool) {
	rel := strings.Fields(strings.ToLower(s.AttrOr("rel", "")))
	has := func(token string) bool { return slices.Contains(rel, token) }
	switch {
	case has("nofollow") || has("stylesheet"):
		return r, false
	case has("alternate") && isFeedType(s.AttrOr("type", "")):
		return FeedOf, true
	case has("next"):
		return NextOf, true
	case has("alternate") && trim(s.AttrOr("hreflang", "")) != "":
		return TranslationOf, true
	}
	return r, false
}

func isFeedType(mediaType string) bool {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	switch strings.ToLower(trim(mediaType)) {
	case "application/rss+xml", "application/atom+xml", "application/rdf+xml":
		return true
	}
	return false
}
