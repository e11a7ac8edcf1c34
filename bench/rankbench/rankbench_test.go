package rankbench

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/webindexer/indexer/observers/pagerank"
)

// TestRun is a small run of everything. Run itself fails if ranks are wrong.
func TestRun(t *testing.T) {
	var log bytes.Buffer
	res, err := Run(t.Context(), Options{Sizes: []int{1000}, Degree: 8, DeadEnds: 0.3, Tolerance: 0.005, Changes: 5, Percents: []float64{1, 100}, Seed: 1, Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	s := &res.Sizes[0]
	if len(s.Local) != 2 || s.Local[0].Changes != 5 || s.Local[0].Rows.Median < 2 || s.Local[1].Rows.Median < 16 {
		t.Errorf("%+v", s.Local)
	}
	if len(s.Shares) != 2 || s.Shares[1].Rank.Pushes < s.Shares[0].Rank.Pushes || s.Shares[0].Full.Iterations < 5 {
		t.Errorf("%+v", s.Shares)
	}
	for i, p := range s.Errors {
		if p.Greatest > p.Tolerance || p.Cold == 0 || i > 0 && (p.L1 > s.Errors[i-1].L1 || p.Edges < s.Errors[i-1].Edges) {
			t.Errorf("point %d of %+v", i, s.Errors)
		}
	}
	if text := res.Text(); !strings.Contains(text, "1000 URLs") {
		t.Error(text)
	}
}

// TestAtRest: the web that a rig begins with has residuals of all sizes within the
// bound, and every sum is that of its summands.
func TestAtRest(t *testing.T) {
	r, err := openRig(t.Context(), t.TempDir(), newWeb(500, 6, 0.2, 3), 0.01)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}()
	states, err := r.states(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := make([]float64, len(states))
	greatest := 0.0
	for u, links := range r.web.links {
		for _, v := range links {
			in[v] += states[u].Pushed / float64(len(links))
		}
		greatest = max(greatest, math.Abs(states[u].Residual()))
	}
	for u := range states {
		if math.Abs(in[u]-states[u].In) > 1e-9 {
			t.Errorf("in of %d is %v, its summands are %v", u, states[u].In, in[u])
		}
	}
	if bound := pagerank.ResidualBound(0.01); greatest > bound*1.000001 || greatest < bound/2 {
		t.Errorf("the greatest residual is %g, the bound %g", greatest, bound)
	}
	if w, err := r.run(t.Context()); err != nil || w.Runs > 0 {
		t.Errorf("there is something to do: %+v, %v", w, err)
	}
}
