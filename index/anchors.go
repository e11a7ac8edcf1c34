package index

import (
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
)

// otherSite is how many links of the same site a link of another site is worth.
const otherSite = 5

// votes returns what all links with this anchor together count.
func votes(a Anchor) int { return a.Count + (otherSite-1)*a.Others }

// anchorNames is an analysed anchor.
type anchorNames struct {
	most float64 // v/(1+v)
	search.Name
}

// takeAnchors reads and analyses a stored list of anchors.
func takeAnchors(stored, language string) ([]anchorNames, error) {
	var anchors []Anchor
	if err := fromJSON([]byte(stored), &anchors); err != nil {
		return nil, err
	}
	list := make([]anchorNames, len(anchors))
	for i, a := range anchors {
		n := float64(votes(a))
		list[i] = anchorNames{n / (1 + n), search.MakeAnchor(a.Text, language)}
	}
	return list, nil
}

func bestAnchor(anchors []anchorNames, words []query.Word) (best float64) {
	for _, a := range anchors {
		if a.most > best {
			best = max(best, a.most*a.Overlap(words))
		}
	}
	return best
}
