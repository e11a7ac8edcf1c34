package counts

import (
	"math"

	"github.com/webindexer/indexer/schema"
)

// A tally has the counts of a range of rows. All its fields are whole numbers, so the sum
// over ranges does not depend on how rows are divided into ranges.
type tally [fields]int64

const (
	urls = iota
	failed
	unreadablePDF
	unreadableOffice
	links
	pages
	redirects
	gone
	other
	clusters
	indexed
	rankURLs
	rankEdges
	rankPassing      // URLs that pass rank along edges
	residualSum      // in units of residualUnit, rounded down
	residualGreatest // also in units of residualUnit
	fields
)

// residualUnit is chosen so that a sum of residuals of 2^27 times the average rank still fits.
const residualUnit = 1.0 / (1 << 36)

// add adds the counts of other rows.
func (t *tally) add(o *tally) {
	greatest := max(t[residualGreatest], o[residualGreatest])
	for i, n := range o {
		t[i] += n
	}
	t[residualGreatest] = greatest
}

// addRank adds the rank state of a URL.
func (t *tally) addRank(s *schema.StoredRankState) {
	t[rankURLs]++
	t[rankEdges] += int64(s.Out)
	if s.Out > 0 {
		residual := int64(math.Abs(s.Residual()) / residualUnit)
		t[rankPassing]++
		t[residualSum] += residual
		t[residualGreatest] = max(t[residualGreatest], residual)
	}
}
