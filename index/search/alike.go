package search

import (
	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/sketch"
)

// # Which pages are alike
//
// Two pages are versions or translations of one page if their addresses say so, or if both
// name the same translations (hreflang). They say the same if their main contents are
// nearly equal, wherever they are: a page that was renamed in a new version, a mirror, a
// page that differs from another one in a few words.

const (
	// Main contents whose similarity is at least foldSimilarity say the same.
	foldSimilarity = 0.8
	// telling is how many bins a sketch needs to show that two pages say the same, unless they
	// are of one host and have one title. A text of fewer words is often the same on many
	// pages, such as "Loading" or "This class is not used", and what matters is in the title.
	telling = 16
)

// Sketched has what shows whether a document is like another one, of the same or another shard.
type Sketched struct {
	Sketch       []byte // of the main content (index/sketch); empty if it is unknown
	Translations int64  // equal for translations of one page, 0 for a page that names none
	Sample       string // of the text, as [sketch.PackSample] stores it
}

// sketched stores what shows whether the candidate is like another one.
func (c *candidate) sketched(s *Sketched) {
	c.translations, c.sample = s.Translations, s.Sample
	if c.sketch = sketch.Of(s.Sketch); c.sketch != nil {
		c.bins = c.sketch.Bins()
	}
}

// covers reports whether a result that shows one page need not show another one: they are
// alike, or they say the same and are versions of one page that was renamed, or the title of
// the other page fits the query no better. (A query for the title of a page gets that page,
// however little its text differs from others.)
func (c *candidate) covers(o *candidate) bool {
	return c.alike(o) || (o.titleMatch <= c.titleMatch || c.otherVersion(o)) && c.saysTheSame(o)
}

// alike reports whether two pages are versions or translations of one page.
func (c *candidate) alike(o *candidate) bool {
	// Versions of a translation name the same translations in another version, or none.
	if c.translations != 0 && c.translations == o.translations && c.language != o.language {
		return true
	}
	a, b := c.key, o.key
	if a.hash != b.hash || a.host != b.host || a.path != b.path {
		return false
	}
	// The titles of translations differ, so their addresses have to name the languages. (Pages
	// that nobody has translated yet are in one language, at the addresses of several.)
	if a.language != b.language && (!sameLanguage(c.language, o.language) || a.language != "" && b.language != "") {
		return a.version.text == b.version.text || a.version.text == "" || b.version.text == "" || !a.numbered && !b.numbered
	}
	return a.title == b.title
}

// saysTheSame reports whether the main contents of two pages are nearly equal.
func (c *candidate) saysTheSame(o *candidate) bool {
	if c.sketch == nil || o.sketch == nil || min(c.bins, o.bins) < telling && (c.key.title != o.key.title || c.key.host != o.key.host) {
		return false
	}
	return sketch.Similar(c.sketch, o.sketch, foldSimilarity)
}

// otherVersion reports whether two pages of a host name different versions.
func (c *candidate) otherVersion(o *candidate) bool {
	a, b := c.key, o.key
	return a.host == b.host && a.version.text != "" && b.version.text != "" && a.version.text != b.version.text
}

// sameLanguage compares two languages without their regions.
func sameLanguage(a, b string) bool {
	return analysis.PrimaryLanguage(a) == analysis.PrimaryLanguage(b)
}
