package rank

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// outGraph builds a graph from a list of edges.
func outGraph(n int, list [][2]uint32) *OutGraph {
	g := NewOutGraph(n)
	for u := range uint32(n) {
		g.Set(u, targetsOf(list, u))
	}
	return g
}

func targetsOf(list [][2]uint32, u uint32) (targets []uint32) {
	for _, e := range list {
		if e[0] == u {
			targets = append(targets, e[1])
		}
	}
	return targets
}

// edgesOf lists the edges of a graph in ascending order.
func edgesOf(g *OutGraph) (list [][2]uint32) {
	for from, targets := range g.Edges() {
		for _, to := range targets {
			list = append(list, [2]uint32{from, to})
		}
	}
	return list
}

// TestRefine changes random graphs, and refines the ranks that they had before. The stated error
// must be kept whenever Enough is asked.
func TestRefine(t *testing.T) {
	for seed := range testenv.Seeds(t, 0, 60) {
		random := rand.New(rand.NewPCG(seed, 2))
		n := 1 + random.IntN(60)
		list := randomEdges(random, n, random.IntN(4*n))
		g := outGraph(n, list)
		ranks := slices.Repeat([]float64{Teleport}, n)
		for range 4 {
			want := dense(n, list)
			asked := 0
			s, err := Refine(t.Context(), g, Refinement{Start: ranks, Enough: func(ranks []float64, tolerance float64) bool {
				asked++
				checkRanks(t, seed, ranks, want, tolerance)
				return random.IntN(20) == 0
			}})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if asked == 0 {
				t.Errorf("seed %d: Enough was not asked", seed)
			}
			checkRanks(t, seed, s.Ranks, want, s.Tolerance)

			u, err := g.Add()
			if err != nil {
				t.Fatal(err)
			}
			n++
			ranks = append(s.Ranks, Teleport)
			list = append(slices.DeleteFunc(list, func(e [2]uint32) bool { return e[0] == 0 || random.IntN(10) == 0 }), [2]uint32{u, 0}, [2]uint32{0, u})
			for u := range uint32(n) {
				g.Set(u, targetsOf(list, u))
			}
		}
	}
}

func checkRanks(t *testing.T, seed uint64, got, want []float64, tolerance float64) {
	t.Helper()
	for u := range want {
		if math.Abs(got[u]-want[u]) > (tolerance+1e-13)*want[u] {
			t.Fatalf("seed %d: node %d has rank %v, want %v within %g of it", seed, u, got[u], want[u], tolerance)
		}
	}
}

// TestRefineExact: Enough is asked even about ranks that were exact from the start: callers decide
// there.
func TestRefineExact(t *testing.T) {
	asked := 0
	s, err := Refine(t.Context(), outGraph(2, [][2]uint32{{0, 1}}), Refinement{Start: []float64{Teleport, Teleport + Damping*Teleport}, Enough: func([]float64, float64) bool {
		asked++
		return false
	}})
	if err != nil || asked != 1 || s.Tolerance != 0 {
		t.Errorf("asked %d times, %+v, %v", asked, s, err)
	}
}

func TestRefineErrors(t *testing.T) {
	g := outGraph(2, [][2]uint32{{0, 1}, {1, 0}})
	if _, err := Refine(t.Context(), g, Refinement{Start: []float64{math.MaxFloat64, -math.MaxFloat64}}); err == nil {
		t.Error("ranks that are no ranks: no error")
	}
	if _, err := Refine(t.Context(), g, Refinement{Start: []float64{1}}); err == nil {
		t.Error("one rank for two nodes: no error")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	if _, err := Refine(ctx, g, Refinement{Start: []float64{2, 3}}); !errors.Is(err, why) {
		t.Errorf("canceled: %v", err)
	}
}

// TestOutGraph stores random graphs and reads them again.
func TestOutGraph(t *testing.T) {
	for seed := range testenv.Seeds(t, 0, 60) {
		random := rand.New(rand.NewPCG(seed, 3))
		n := random.IntN(300)
		var list [][2]uint32
		if n > 0 {
			list = randomEdges(random, n, random.IntN(4*n))
		}
		g := outGraph(n, list)
		for u := range uint32(n) {
			g.Set(u, []uint32{0}) // replaced by the next one
			g.Set(u, targetsOf(list, u))
		}
		slices.SortFunc(list, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
		if got := edgesOf(g); !slices.Equal(got, list) {
			t.Fatalf("seed %d: edges %v, want %v", seed, got, list)
		}
		stored := append(g.Append(nil), "rest"...)
		g, rest, ok := DecodeOutGraph(stored)
		if !ok || string(rest) != "rest" {
			t.Fatalf("seed %d: read %t, rest %q", seed, ok, rest)
		}
		if got := edgesOf(g); g.Nodes() != n || !slices.Equal(got, list) {
			t.Fatalf("seed %d: %d nodes with edges %v, want %d with %v", seed, g.Nodes(), got, n, list)
		}
		if u, err := g.Add(); err != nil || int(u) != n {
			t.Fatalf("seed %d: new node %d, %v", seed, u, err)
		}
		g.Set(uint32(n), []uint32{uint32(n)})
		if !bytes.HasSuffix(stored, []byte("rest")) {
			t.Fatalf("seed %d: a change of the graph has overwritten what it was read from", seed)
		}
	}
}

// TestLongList: a list is read, whatever the first byte of its length is.
func TestLongList(t *testing.T) {
	for _, n := range []uint32{127, 128, 129, 256} {
		g, want := NewOutGraph(int(n)), make([]uint32, n)
		for i := range want {
			want[i] = uint32(i)
		}
		g.Set(0, slices.Clone(want))
		for _, got := range g.Edges() {
			if !slices.Equal(got, want) {
				t.Errorf("%d edges become %v", n, got)
			}
		}
	}
}

// TestDamagedOutGraph: a stored graph with an edge to no node is refused.
func TestDamagedOutGraph(t *testing.T) {
	for _, b := range [][]byte{
		{2, 1, 4, 0}, // from 0 to 2, of two nodes
		{2, 0, 1, 3}, // from 1 to -1
		{2, 1},       // no list
		{2, 1, 0x80}, // half a target
	} {
		if g, _, ok := DecodeOutGraph(b); ok {
			t.Errorf("%v is read as a graph with %d nodes", b, g.Nodes())
		}
	}
}

// FuzzDecodeOutGraph reads anything as a graph: it fails, or the graph can be walked.
func FuzzDecodeOutGraph(f *testing.F) {
	f.Add(outGraph(3, [][2]uint32{{0, 1}, {0, 2}, {2, 0}}).Append(nil))
	f.Add([]byte{3, 2, 0})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		g, _, ok := DecodeOutGraph(b)
		if !ok {
			return
		}
		for _, e := range edgesOf(g) {
			if int(e[0]) >= g.Nodes() || int(e[1]) >= g.Nodes() {
				t.Fatalf("edge %v among %d nodes", e, g.Nodes())
			}
		}
	})
}

// BenchmarkFewChanges finds all ranks after ten of 50,000 nodes with a million edges have received
// other targets, starting from the previous ranks: by building the graph and iterating over all
// edges, and by changing the graph and pushing residuals.
func BenchmarkFewChanges(b *testing.B) {
	const n, degree = 50_000, 20
	list := make([][]uint32, n)
	for from, to := range generated(n, degree) {
		list[from] = append(list[from], to)
	}
	edges := func(yield func(from, to uint32) bool) {
		for from, targets := range list {
			for _, to := range targets {
				if !yield(uint32(from), to) {
					return
				}
			}
		}
	}
	solve := func(start []float64, tolerance float64) []float64 {
		g, err := Build(n, edges)
		if err != nil {
			b.Fatal(err)
		}
		s, err := Solve(b.Context(), g, Options{Start: start, Tolerance: tolerance, Workers: 1})
		if err != nil {
			b.Fatal(err)
		}
		return s.Ranks
	}
	ranks := solve(nil, 1e-9)
	out := NewOutGraph(n)
	for from, targets := range list {
		out.Set(uint32(from), slices.Clone(targets))
	}
	changed := func(i uint32) uint32 { return n/2 + 1000*i } // nodes that are not popular
	for i := range uint32(10) {
		list[changed(i)] = []uint32{i + 10_000, i + 20_000}
	}
	for _, tolerance := range []float64{1e-3, 1e-4, 1e-6} {
		b.Run(fmt.Sprintf("solve/%g", tolerance), func(b *testing.B) {
			for b.Loop() {
				solve(ranks, tolerance)
			}
		})
		b.Run(fmt.Sprintf("refine/%g", tolerance), func(b *testing.B) {
			for b.Loop() {
				for i := range uint32(10) {
					out.Set(changed(i), list[changed(i)])
				}
				if _, err := Refine(b.Context(), out, Refinement{Start: ranks, Tolerance: tolerance}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestUnlinked(t *testing.T) {
	g := outGraph(6, [][2]uint32{{0, 1}, {3, 3}, {0, 4}})
	if n := g.Unlinked(); n != 2 {
		t.Errorf("%d nodes without edges, want 2", n)
	}
	g.Set(0, nil)
	if n := g.Unlinked(); n != 5 {
		t.Errorf("%d nodes without edges, want 5", n)
	}
}
