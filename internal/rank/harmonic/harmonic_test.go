package harmonic

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// build makes a graph of edges in any order.
func build(t testing.TB, nodes int, edges [][2]uint32) *Graph {
	t.Helper()
	edges = slices.Clone(edges)
	slices.SortFunc(edges, func(a, b [2]uint32) int { return slices.Compare([]uint32{a[1], a[0]}, []uint32{b[1], b[0]}) })
	b := NewBuilder(nodes)
	for _, e := range edges {
		if err := b.Add(e[0], e[1]); err != nil {
			t.Fatal(err)
		}
	}
	return b.Graph()
}

func TestByHand(t *testing.T) {
	for name, tt := range map[string]struct {
		nodes int
		edges [][2]uint32
		want  []float64
	}{
		"nothing":         {0, nil, []float64{}},
		"alone":           {2, nil, []float64{0, 0}},
		"path":            {3, [][2]uint32{{0, 1}, {1, 2}}, []float64{0, 1, 1.5}},
		"circle":          {3, [][2]uint32{{0, 1}, {1, 2}, {2, 0}}, []float64{1.5, 1.5, 1.5}},
		"star":            {4, [][2]uint32{{1, 0}, {2, 0}, {3, 0}}, []float64{3, 0, 0, 0}},
		"twice, and self": {2, [][2]uint32{{0, 1}, {0, 1}, {1, 1}, {0, 0}}, []float64{0, 1}},
		"the shorter way": {4, [][2]uint32{{0, 1}, {1, 2}, {2, 3}, {0, 3}}, []float64{0, 1, 1.5, 2.5}},
	} {
		got, err := Centralities(t.Context(), build(t, tt.nodes, tt.edges))
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, tt.want)
		}
	}
}

// reference is by a queue from each node.
func reference(n int, edges [][2]uint32) []float64 {
	to := make([][]uint32, n)
	for _, e := range edges {
		to[e[0]] = append(to[e[0]], e[1])
	}
	sums := make([]float64, n)
	for from := range n {
		distance := make([]int, n)
		for queue := []uint32{uint32(from)}; len(queue) > 0; queue = queue[1:] {
			for _, next := range to[queue[0]] {
				if int(next) != from && distance[next] == 0 {
					distance[next] = distance[queue[0]] + 1
					sums[next] += 1 / float64(distance[next])
					queue = append(queue, next)
				}
			}
		}
	}
	return sums
}

func randomEdges(r *rand.Rand, n, m int) (edges [][2]uint32) {
	for range m {
		edges = append(edges, [2]uint32{uint32(r.IntN(n)), uint32(min(r.IntN(n), r.IntN(n)))})
	}
	return edges
}

// Random graphs, thin and dense, of up to four times 64 nodes.
func TestExactAgainstSearch(t *testing.T) {
	r := testenv.Random(t)
	for range 100 {
		n := 1 + r.IntN(256)
		edges := randomEdges(r, n, r.IntN(4*n))
		got, err := exact(t.Context(), build(t, n, edges))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range reference(n, edges) {
			if math.Abs(got[i]-want) > 1e-9*(1+want) {
				t.Fatalf("node %d of %d, %d edges: %g, want %g", i, n, len(edges), got[i], want)
			}
		}
	}
}

// Estimates are as near as theory says: the root of the mean square of their relative
// errors is no more than one and a half of 1.04/√registers, over the nodes that some
// hundred reach. They are always the same.
func TestEstimateAgainstExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2)) // estimates of one graph depend on each other
	const n = 3000
	g := build(t, n, randomEdges(r, n, 4*n))
	want, err := exact(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range []int{4, 6, 8} {
		got, err := estimate(t.Context(), g, log)
		if err != nil {
			t.Fatal(err)
		}
		squares, nodes := 0.0, 0
		for i := range got {
			if want[i] > 100 {
				e := got[i]/want[i] - 1
				squares, nodes = squares+e*e, nodes+1
			} else if want[i] == 0 && got[i] != 0 {
				t.Errorf("nobody reaches %d, and it has %g", i, got[i])
			}
		}
		off, most := math.Sqrt(squares/float64(nodes)), 1.5*1.04/math.Sqrt(float64(int(1)<<log))
		t.Logf("%d registers: %d nodes are off by %.3f", 1<<log, nodes, off)
		if nodes < n/2 || off > most {
			t.Errorf("%d registers: %d nodes are off by %g, at most %g", 1<<log, nodes, off, most)
		}
		again, err := estimate(t.Context(), g, log)
		if err != nil || !slices.Equal(got, again) {
			t.Error("another estimate of the same graph", err)
		}
	}
}

func TestRegisters(t *testing.T) {
	for _, tt := range []struct{ nodes, log int }{{1, 8}, {1 << 19, 8}, {1<<19 + 1, 7}, {1 << 20, 7}, {8 << 20, 4}, {1 << 30, 4}} {
		if got := registersFor(tt.nodes); got != tt.log {
			t.Errorf("%d nodes: %d, want %d", tt.nodes, got, tt.log)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, edges := range [][][2]uint32{{{0, 3}}, {{3, 0}}, {{0, math.MaxUint32}}, {{math.MaxUint32, 0}}, {{0, 2}, {0, 1}}, {{1, 2}, {0, 2}}} {
		b := NewBuilder(3)
		var err error
		for _, e := range edges {
			err = errors.Join(err, b.Add(e[0], e[1]))
		}
		if !errors.Is(err, errEdge) {
			t.Errorf("%v: %v", edges, err)
		}
	}
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	g := build(t, 2, [][2]uint32{{0, 1}})
	if _, err := exact(ctx, g); !errors.Is(err, gone) {
		t.Error(err)
	}
	if _, err := estimate(ctx, g, 4); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// BenchmarkExact is at the bound: as many nodes as are exact, ten edges each.
func BenchmarkExact(b *testing.B) { benchmark(b, exact) }

// BenchmarkEstimate is of the same graph.
func BenchmarkEstimate(b *testing.B) {
	benchmark(b, func(ctx context.Context, g *Graph) ([]float64, error) {
		return estimate(ctx, g, registersFor(g.Nodes()))
	})
}

func benchmark(b *testing.B, compute func(context.Context, *Graph) ([]float64, error)) {
	g := build(b, exactNodes, randomEdges(rand.New(rand.NewPCG(1, 0)), exactNodes, 10*exactNodes))
	for b.Loop() {
		if _, err := compute(b.Context(), g); err != nil {
			b.Fatal(err)
		}
	}
}
