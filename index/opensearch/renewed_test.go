package opensearch

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestManyRenewed: if the times and ranks of most documents were renewed after their export, of more
// than are looked at, the latest and the highest are still found. Times and ranks ascend in the order
// in which the documents came; before they were renewed, they descended.
func TestManyRenewed(t *testing.T) {
	x, a := openTest(t)
	w, r := files(t)
	const n = 5 * firstLook
	day := time.Date(2024, 5, 31, 0, 0, 0, 0, time.UTC)
	var added []index.Change
	var touches []index.Touch
	var ranks []index.RankUpdate
	for i := range n {
		c := page.ContentKey{byte(i), byte(i >> 8), 1}
		d := &index.Document{Cluster: c, Seq: 1, URL: page.URL(fmt.Sprintf("https://example.org/%d", i)), Title: "Rope", Text: fmt.Sprintf("number%d half%d", i, 2*i/n), FetchedAt: day.Add(-time.Duration(i) * time.Minute), Rank: float64(n - i)}
		added = append(added, index.Upsert(d))
		if i%10 > 0 {
			touches = append(touches, index.Touch{Cluster: c, URL: d.URL, FetchedAt: day.Add(time.Duration(i) * time.Minute)})
			ranks = append(ranks, index.RankUpdate{Cluster: c, Seq: 2, Rank: float64(n + i)})
		}
	}
	for _, to := range []interface {
		Apply(ctx context.Context, changes []index.Change) error
		SetRanks(ctx context.Context, ranks []index.RankUpdate) error
		Touch(ctx context.Context, touches []index.Touch) ([]index.Touch, error)
	}{x, w} {
		err := errors.Join(to.Apply(t.Context(), added), to.SetRanks(t.Context(), ranks))
		missing, wrong := to.Touch(t.Context(), touches)
		if err := errors.Join(err, wrong); err != nil || len(missing) > 0 {
			t.Fatal(err, missing)
		}
	}
	theirs, ours := searchers(t, a, r)
	for _, q := range []string{"site:example.org", "site:example.org before:2024-05-31", "half0"} {
		for _, o := range []search.Options{{}, {Sort: search.ByDate}, {Sort: search.ByDate, Offset: 40, Limit: 100}} {
			if sameHits(t, q, o, theirs, ours) == 0 {
				t.Errorf("%s, %+v: no hits", q, o)
			}
		}
	}
}
