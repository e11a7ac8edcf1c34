package pagerank

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/internal/testenv"
)

// webModel is a link graph by name.
type webModel map[string][]string

// nodes yields all names in order, with their targets.
func (m webModel) nodes() iter.Seq2[Node, error] {
	names := make(map[string]bool)
	for from, targets := range m {
		names[from] = true
		for _, to := range targets {
			names[to] = true
		}
	}
	return func(yield func(Node, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			targets := func(yield func([]byte, error) bool) {
				for _, to := range m[name] {
					if !yield([]byte(to), nil) {
						return
					}
				}
			}
			if !yield(Node{Name: name, State: State{Rank: 1}, Stated: true, Targets: targets}, nil) {
				return
			}
		}
	}
}

func randomTargets(random *rand.Rand) (targets []string) {
	for range random.IntN(6) {
		targets = append(targets, fmt.Sprintf("n%02d", random.IntN(50)))
	}
	slices.Sort(targets)
	return slices.Compact(targets)
}

// ranksOf computes the ranks of a graph by name.
func ranksOf(t *testing.T, g *LinkGraph) map[string]float64 {
	t.Helper()
	s, err := rank.Refine(t.Context(), g.OutGraph, rank.Refinement{Start: g.Ranks})
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]float64)
	for i := range 60 {
		name := fmt.Sprintf("n%02d", i)
		byName[name] = g.Rank(s.Ranks, name)
	}
	return byName
}

// TestLinkGraph changes random graphs, stores and reads them now and then, and compares their ranks
// with those of a newly built graph.
func TestLinkGraph(t *testing.T) {
	t.Parallel()
	for seed := range testenv.Seeds(t, 0, 40) {
		random := rand.New(rand.NewPCG(seed, 4))
		model := make(webModel)
		for range random.IntN(40) {
			model[fmt.Sprintf("n%02d", random.IntN(50))] = randomTargets(random)
		}
		none := func(func(Change, error) bool) {}
		g, err := BuildLinkGraph(model.nodes(), none)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 30 {
			name, targets := fmt.Sprintf("n%02d", random.IntN(55)), randomTargets(random)
			model[name] = targets
			if err := g.SetTargets(name, targets); err != nil {
				t.Fatal(err)
			}
			if random.IntN(4) == 0 {
				if g, err = DecodeLinkGraph(g.Encode()); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
			}
		}
		want, err := BuildLinkGraph(model.nodes(), none)
		if err != nil {
			t.Fatal(err)
		}
		got, exact := ranksOf(t, g), ranksOf(t, want)
		for name := range exact {
			if math.Abs(got[name]-exact[name]) > 1e-9 {
				t.Errorf("seed %d: %s has rank %v, want %v", seed, name, got[name], exact[name])
			}
		}
	}
}

// TestStoredDamage cuts a stored graph anywhere, and changes each of its bytes.
func TestStoredDamage(t *testing.T) {
	t.Parallel()
	g, err := BuildLinkGraph(webModel{"a": {"b", "c"}, "c": {"a"}}.nodes(), func(func(Change, error) bool) {})
	if err != nil {
		t.Fatal(err)
	}
	stored := g.Encode()
	for i := range stored {
		if _, err := DecodeLinkGraph(slices.Clone(stored[:i])); !errors.Is(err, ErrStored) {
			t.Errorf("cut after %d bytes: %v", i, err)
		}
		changed := slices.Clone(stored)
		changed[i] ^= 0x40
		if _, err := DecodeLinkGraph(changed); !errors.Is(err, ErrStored) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}

// FuzzDecodeLinkGraph reads anything with a right checksum: it fails, or the graph can be used.
func FuzzDecodeLinkGraph(f *testing.F) {
	g, err := BuildLinkGraph(webModel{"a": {"b", "c"}, "c": {"a"}}.nodes(), func(func(Change, error) bool) {})
	if err != nil {
		f.Fatal(err)
	}
	stored := g.Encode()
	f.Add(stored[:len(stored)-4])
	f.Fuzz(func(t *testing.T, body []byte) {
		g, err := DecodeLinkGraph(withChecksum(body))
		if err != nil {
			return
		}
		if err := g.SetTargets("x", []string{"a", "y"}); err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeLinkGraph(g.Encode()); err != nil {
			t.Fatalf("stored again: %v", err)
		}
	})
}
