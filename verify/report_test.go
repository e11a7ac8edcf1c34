package verify

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// TestJoinByRow compares rows in several parts, in any distribution: the report is always the same,
// even if it does not list all differences.
func TestJoinByRow(t *testing.T) {
	random := testenv.Random(t)
	var urls []page.URL
	for i := range maxListed {
		urls = append(urls, page.URL(fmt.Sprintf("https://%c.example/%d", 'z'-i%20, i)))
	}
	slices.SortFunc(urls, func(a, b page.URL) int { return strings.Compare(schema.URLRow(a), schema.URLRow(b)) })
	report := func(parts int) *Report {
		reports := make([]*Report, parts)
		for i := range reports {
			reports[i] = newReport()
		}
		for _, u := range urls {
			part := reports[random.IntN(parts)]
			part.Checked["rows"]++
			part.add("fetch", string(u), "time", "a", "b")
			part.add("body", string(u), "body", "a", "b")
		}
		all := newReport()
		all.joinByRow(reports)
		return all
	}
	one := report(1)
	if one.Total != 2*maxListed || len(one.Differences) != maxListed || one.Differences[1].Table != "body" || one.Checked["rows"] != len(urls) {
		t.Errorf("one part: %d differences, %d listed, %v, %v", one.Total, len(one.Differences), one.Differences[:2], one.Checked)
	}
	for _, parts := range []int{2, 3, 8} {
		if got := report(parts); !reflect.DeepEqual(got, one) {
			t.Errorf("%d parts give another report than one", parts)
		}
	}
}
