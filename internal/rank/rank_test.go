package rank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pairs yields edges from a list.
func pairs(list [][2]uint32) Edges {
	return func(yield func(uint32, uint32) bool) {
		for _, e := range list {
			if !yield(e[0], e[1]) {
				return
			}
		}
	}
}

func solve(t *testing.T, n int, list [][2]uint32, o Options) *Solution {
	t.Helper()
	g, err := Build(n, pairs(list))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Solve(t.Context(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestByHand has graphs whose ranks can be computed on paper.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		name  string
		n     int
		edges [][2]uint32
		want  []float64
	}{
		{"nothing", 0, nil, nil},
		{"alone", 1, nil, []float64{0.15}},
		{"chain", 3, [][2]uint32{{0, 1}, {1, 2}}, []float64{0.15, 0.2775, 0.385875}},
		{"itself", 1, [][2]uint32{{0, 0}}, []float64{1}},
		{"pair", 2, [][2]uint32{{0, 1}, {1, 0}}, []float64{1, 1}},
		{"fan out", 3, [][2]uint32{{0, 1}, {0, 2}}, []float64{0.15, 0.21375, 0.21375}},
		{"fan in", 3, [][2]uint32{{0, 2}, {1, 2}}, []float64{0.15, 0.15, 0.405}},
		// b = 0.15 + 0.85 a, a = 0.15 + 0.85 b/2, so a = 0.21375/0.63875
		{"loop with an end", 3, [][2]uint32{{0, 1}, {1, 0}, {1, 2}}, []float64{0.21375 / 0.63875, 0.15 + 0.85*0.21375/0.63875, 0.21375 / 0.63875}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := solve(t, c.n, c.edges, Options{}).Ranks
			for u := range c.want {
				if math.Abs(got[u]-c.want[u]) > 1e-12 {
					t.Errorf("ranks %v, want %v", got, c.want)
				}
			}
		})
	}
}

// dense solves the same equations by elimination.
func dense(n int, list [][2]uint32) []float64 {
	out := make([]float64, n)
	for _, e := range list {
		out[e[0]]++
	}
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n+1)
		m[i][i], m[i][n] = 1, Teleport
	}
	for _, e := range list {
		m[e[1]][e[0]] -= Damping / out[e[0]]
	}
	for i := range m { // the matrix is diagonally dominant by columns: no pivoting
		for j := range m {
			if f := m[j][i] / m[i][i]; j != i && f != 0 {
				for k := i; k <= n; k++ {
					m[j][k] -= f * m[i][k]
				}
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = m[i][n] / m[i][i]
	}
	return x
}

func randomEdges(random *rand.Rand, n, m int) [][2]uint32 {
	seen := make(map[[2]uint32]bool)
	var list [][2]uint32
	for range m {
		// low numbers are popular
		e := [2]uint32{uint32(random.IntN(n)), uint32(random.IntN(1 + random.IntN(n)))}
		if !seen[e] {
			seen[e] = true
			list = append(list, e)
		}
	}
	return list
}

// TestAgainstElimination solves random graphs in two ways, and looks whether the
// stated error is kept at every tolerance and from every start.
func TestAgainstElimination(t *testing.T) {
	for seed := range testenv.Seeds(t, 0, 60) {
		random := rand.New(rand.NewPCG(seed, 1))
		n := 1 + random.IntN(80)
		list := randomEdges(random, n, random.IntN(6*n))
		want := dense(n, list)
		for _, o := range []Options{{}, {Tolerance: 0.1}, {Tolerance: 0.003, Workers: 3}, {Tolerance: 1e-6, Start: randomRanks(random, n)}} {
			s := solve(t, n, list, o)
			if o.Tolerance > 0 && s.Tolerance > o.Tolerance {
				t.Errorf("seed %d: tolerance %g, wanted %g", seed, s.Tolerance, o.Tolerance)
			}
			for u := range want {
				if math.Abs(s.Ranks[u]-want[u]) > (s.Tolerance+1e-11)*want[u] {
					t.Fatalf("seed %d, %+v: rank of %d is %v, want %v within %g of it", seed, o, u, s.Ranks[u], want[u], s.Tolerance)
				}
			}
		}
	}
}

func randomRanks(random *rand.Rand, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 3 * random.Float64()
	}
	return list
}

// TestWorkers: the result does not depend on how many there are.
func TestWorkers(t *testing.T) {
	const n = 3*chunkNodes + 17
	list := randomEdges(rand.New(rand.NewPCG(7, 7)), n, 5*n)
	one := solve(t, n, list, Options{Workers: 1})
	for _, w := range []int{2, 3, 16} {
		many := solve(t, n, list, Options{Workers: w})
		if !slices.Equal(one.Ranks, many.Ranks) {
			t.Errorf("%d workers find other ranks than one", w)
		}
	}
}

func TestStart(t *testing.T) {
	list := randomEdges(rand.New(rand.NewPCG(1, 2)), 500, 3000)
	cold := solve(t, 500, list, Options{Tolerance: 1e-9})
	warm := solve(t, 500, list, Options{Tolerance: 1e-9, Start: cold.Ranks})
	if warm.Iterations > 1+cold.Iterations/10 {
		t.Errorf("%d iterations from the solution, %d from nothing", warm.Iterations, cold.Iterations)
	}
	asked := 0
	early := solve(t, 500, list, Options{Enough: func(_ []float64, tolerance float64) bool { asked++; return tolerance < 0.01 }})
	if early.Tolerance >= 0.01 || early.Iterations != asked {
		t.Errorf("stopped at %g after %d iterations, asked %d times", early.Tolerance, early.Iterations, asked)
	}
}

func TestInflows(t *testing.T) {
	g, err := Build(4, pairs([][2]uint32{{0, 1}, {0, 2}, {3, 2}, {2, 2}}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := g.Inflows(t.Context(), []float64{3, 5, 7, 11})
	if want := []float64{0, 1.5, 1.5 + 11 + 7, 0}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := g.Inflows(t.Context(), nil); err == nil {
		t.Error("no numbers are accepted")
	}
}

func TestErrors(t *testing.T) {
	for _, list := range [][][2]uint32{{{0, 3}}, {{3, 0}}} {
		if _, err := Build(3, pairs(list)); err == nil {
			t.Errorf("edges %v among 3 nodes are accepted", list)
		}
	}
	calls := 0
	fickle := func(yield func(uint32, uint32) bool) {
		calls++
		for range calls {
			if !yield(0, 1) {
				return
			}
		}
	}
	if _, err := Build(2, fickle); err == nil {
		t.Error("edges that change are accepted")
	}
	passes := 0
	fewer := func(yield func(uint32, uint32) bool) {
		if passes++; passes == 1 && !yield(1, 0) {
			return
		}
		yield(0, 1)
	}
	if _, err := Build(2, fewer); err == nil {
		t.Error("edges that become fewer are accepted")
	}
	g, err := Build(2, pairs([][2]uint32{{0, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Solve(t.Context(), g, Options{Start: []float64{1}}); err == nil {
		t.Error("a start of the wrong length is accepted")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Solve(ctx, g, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context gives %v", err)
	}
}

// generated yields a web: sites of 100 pages, most links within the site, the rest to
// pages of all sites with a power law. It is a function of the seed.
func generated(n, degree int) Edges {
	return func(yield func(uint32, uint32) bool) {
		random := rand.New(rand.NewPCG(42, uint64(n)))
		seen := make(map[uint32]bool, degree)
		for u := range n {
			clear(seen)
			for range degree {
				v := u/100*100 + random.IntN(100)
				if random.IntN(4) == 0 {
					v = int(float64(n) * math.Pow(random.Float64(), 3))
				}
				to := uint32(min(v, n-1))
				if seen[to] {
					continue
				}
				seen[to] = true
				if !yield(uint32(u), to) {
					return
				}
			}
		}
	}
}

func TestSize(t *testing.T) {
	g, err := Build(200_000, generated(200_000, 20))
	if err != nil {
		t.Fatal(err)
	}
	perEdge := float64(g.Bytes()-4*g.Nodes()) / float64(g.Edges())
	t.Logf("%d edges, %.2f bytes each", g.Edges(), perEdge)
	if perEdge > 3 {
		t.Errorf("%.2f bytes an edge", perEdge)
	}
}

// BenchmarkIteration is one iteration over graphs of up to 100 million edges. The
// largest is for `-bench 'Iteration/100M'` and takes a minute to build.
func BenchmarkIteration(b *testing.B) {
	for _, edges := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("%dM", edges), func(b *testing.B) {
			if edges == 100 && testing.Short() {
				b.Skip("takes 2 GiB")
			}
			const degree = 20
			n := edges * 1_000_000 / degree
			g, err := Build(n, generated(n, degree))
			if err != nil {
				b.Fatal(err)
			}
			s := newSolver(g, Options{}.withDefaults())
			b.ResetTimer()
			for b.Loop() {
				if _, err := s.iterate(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(g.Edges()), "ns/edge")
			b.ReportMetric(float64(g.Edges())/1e6, "Medges")
			b.ReportMetric(float64(g.Bytes())/float64(g.Edges()), "B/edge")
		})
	}
}
