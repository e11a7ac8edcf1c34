package counts_test

import (
	"context"
	"math"
	"testing"

	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/txn"
)

func TestRead(t *testing.T) {
	for name, tt := range map[string]struct {
		web  []string
		want counts.Counts // without Ranks
	}{
		"nothing": {},
		"a page":  {[]string{"a.example/ at=1 page"}, counts.Counts{URLs: 1, Pages: 1, Clusters: 1, Indexed: 1}},
		"every outcome": {[]string{
			"a.example/ at=1 page", "b.example/ at=1 redirect=a.example/", "c.example/ at=1 gone",
			"d.example/ at=1 failed", "e.example/ at=1 error", "f.example/ at=1 other=",
		}, counts.Counts{URLs: 6, Pages: 1, Redirects: 1, Gone: 1, Failed: 2, Other: 1, Clusters: 1, Indexed: 1}},
		"a failed fetch changes nothing": {[]string{"a.example/ at=1 page", "a.example/ at=2 failed"},
			counts.Counts{URLs: 1, Pages: 1, Clusters: 1, Indexed: 1}},
		"a revisit changes no outcome": {[]string{"a.example/ at=1 page", "a.example/ at=2 failed", "a.example/ at=3 revisit",
			"b.example/ at=1 failed", "b.example/ at=2 revisit", "c.example/ at=1 revisit"},
			counts.Counts{URLs: 3, Pages: 1, Failed: 1, Clusters: 1, Indexed: 1}},
		"two copies, one hidden": {[]string{"a.example/ at=1 page text=same", "b.example/ at=1 page text=same", "c.example/ at=1 page text=other noindex"},
			counts.Counts{URLs: 3, Pages: 3, Clusters: 2, Indexed: 1}},
		"known by links, redirects and canonical links": {[]string{
			"a.example/ at=1 page text=a link=x.example/,one link=x.example/,two link=y.example/,three",
			"b.example/ at=1 redirect=p.example/", "c.example/ at=1 page text=c canonical=q.example/",
		}, counts.Counts{URLs: 7, Pages: 2, Redirects: 1, Clusters: 2, Indexed: 2, Links: 2}},
		"a link taken back": {[]string{"a.example/ at=1 page text=a link=x.example/,one", "a.example/ at=2 page text=a"},
			counts.Counts{URLs: 1, Pages: 1, Clusters: 1, Indexed: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := webtest.Settled(t, tt.web...)
			at := r.DB.LastTimestamp()
			got, err := counts.NewCache().Read(t.Context(),
				func(context.Context) (*txn.Txn, error) { return r.DB.At(at), nil },
				func(_ context.Context, ts uint64) (*txn.Txn, error) { return r.DB.At(ts), nil })
			got.Ranks = counts.Ranks{}
			if err != nil || got != tt.want {
				t.Errorf("got %+v\nwant %+v, %v", got, tt.want, err)
			}
		})
	}
}

// TestReadRanks counts the graph, and finds residuals within the bound that holds at rest.
func TestReadRanks(t *testing.T) {
	r := webtest.Settled(t,
		"a.example/ at=1 page text=a link=b.example/,b link=c.example/,c",
		"b.example/ at=1 page text=b link=c.example/,c", "c.example/ at=1 page text=c link=a.example/,a")
	tx := r.DB.At(r.DB.LastTimestamp())
	defer tx.Rollback()
	got, err := counts.ReadRanks(t.Context(), tx)
	if err != nil || got.URLs != 3 || got.Edges != 4 || got.Tolerance <= 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got.ResidualSum > got.ResidualBound || got.ResidualGreatest > got.ResidualSum || math.IsNaN(got.ResidualSum) {
		t.Errorf("residuals exceed their bound: %+v", got)
	}
}
