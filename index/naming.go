package index

import (
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/cache"
)

// naming is what the anchors and headings of a document call it, or a part of it.
type naming struct {
	anchors  []anchorNames
	headings []search.Name
}

// match returns how well the best anchor or heading agrees with a query.
func (n *naming) match(words []query.Word) float64 {
	return max(bestAnchor(n.anchors, words), bestHeading(n.headings, words))
}

// AnchorMatcher says how well anchors and headings agree with queries. It remembers those that
// it has analysed, and is safe for concurrent use.
type AnchorMatcher struct {
	anchors  *cache.Texts[[]anchorNames] // takeAnchors
	headings *cache.Texts[[]search.Name] // takeHeadings
}

// NewAnchorMatcher returns a matcher that remembers nothing yet.
func NewAnchorMatcher() *AnchorMatcher {
	return &AnchorMatcher{cache.NewTexts[[]anchorNames](), cache.NewTexts[[]search.Name]()}
}

// Match returns how well a document's anchors and headings, as a Portable has them, agree
// with a query.
func (m *AnchorMatcher) Match(anchors, headings, language string, words []query.Word) (float64, error) {
	d, err := m.naming(anchors, headings, language)
	return d.match(words), err
}

// naming analyses stored anchors and headings.
func (m *AnchorMatcher) naming(anchors, headings, language string) (d naming, err error) {
	if d.anchors, err = m.anchors.Get(anchors, language, takeAnchors); err != nil || headings == "" {
		return d, err
	}
	d.headings, err = m.headings.Get(headings, language, takeHeadings)
	return d, err
}
