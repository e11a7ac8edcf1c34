package batch

import (
	"fmt"
	"math"
	"net/http"
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestSolve: a and b link to c, which has two links to d, one that does not count,
// and one to itself; r redirects to c.
func TestSolve(t *testing.T) {
	b := New()
	html := func(u, body string) {
		b.Add(&page.Fetch{URL: page.URL(u), Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(body)})
	}
	html("http://a/", "<a href=http://c/>1</a>")
	html("http://b/", "<a href=http://c/>1</a><a href=http://x/ rel=nofollow>2</a>")
	html("http://c/", "<a href=http://d/>1</a><a href=http://d/>2</a><a href=http://c/>3</a>")
	b.Add(&page.Fetch{URL: "http://r/", Status: 301, Header: http.Header{"Location": {"http://c/"}}})
	r, err := b.Solve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := 0.15 + 3*0.85*0.15
	for u, want := range map[page.URL]float64{"http://a/": 0.15, "http://b/": 0.15, "http://r/": 0.15, "http://c/": c, "http://d/": 0.15 + 0.85*c} {
		if got := r.URL(u).Rank; math.Abs(got-want) > 1e-12 {
			t.Errorf("rank of %s is %v, want %v", u, got, want)
		}
	}
	if r.URL("http://x/") != nil {
		t.Error("a link that does not count makes a node")
	}
}

// checkRanks compares with the ranks of the corpus's answers, which are good to about 1e-6.
func checkRanks(t *testing.T, r *Repository, want map[page.URL]float64) error {
	t.Helper()
	worst := 0.0
	for u := range r.URLs() {
		w, ok := want[u.URL]
		if !ok {
			return fmt.Errorf("%s has no rank in the answers", u.URL)
		}
		worst = max(worst, math.Abs(u.Rank-w)/w)
	}
	t.Logf("%d ranks, greatest relative difference %.2g", len(want), worst)
	if worst > 1e-5 {
		return fmt.Errorf("a rank differs by %g", worst)
	}
	return nil
}
