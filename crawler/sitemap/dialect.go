package sitemap

import "encoding/xml"

// role is what a child element means for its entry.
type role uint8

const (
	noRole       role = iota
	urlRole           // its text is the URL
	hrefRole          // its href attribute is the URL, if its rel is alternate or missing
	fallbackRole      // its text is the URL if no other is found and this is absolute
	dateRole
)

// dialect is one XML form: which element is an entry, and what its children mean.
// Element names are local names in lower case. Files are careless about namespaces, so
// these are never looked up. But an element that gives a URL must have the same prefix
// as its entry, which distinguishes image:loc and atom:link from loc and link.
type dialect struct {
	kind     Kind
	entry    string
	children map[string]role
	// about is the entry's attribute that gives the URL if no child does.
	about string
	// bareText uses the entry's own text if no child gives the URL.
	bareText bool
	// relative allows URLs relative to the file or its xml:base. Sitemaps must not have
	// them; there "www.example.com/a" is a mistake that means another host.
	relative bool
}

var sitemapChildren = map[string]role{"loc": urlRole, "lastmod": dateRole}

var rssChildren = map[string]role{
	"link": urlRole, "guid": fallbackRole, "pubdate": dateRole, "date": dateRole,
}

// dialects are distinguished by the root element.
var dialects = map[string]*dialect{
	"urlset":       {kind: URLSet, entry: "url", children: sitemapChildren, bareText: true},
	"sitemapindex": {kind: Index, entry: "sitemap", children: sitemapChildren, bareText: true},
	"rss":          {kind: RSS, entry: "item", children: rssChildren, relative: true},
	"rdf":          {kind: RSS, entry: "item", children: rssChildren, relative: true, about: "about"},
	"feed": {kind: Atom, entry: "entry", relative: true, children: map[string]role{
		"link": hrefRole, "id": fallbackRole, "updated": dateRole, "published": dateRole, "modified": dateRole,
	}},
}

// roleOf returns the role of a direct child of an entry.
func (d *dialect) roleOf(name, entry xml.Name) role {
	r := d.children[local(name)]
	switch r {
	case urlRole, hrefRole, fallbackRole:
		if name.Space != entry.Space {
			return noRole
		}
	}
	return r
}
