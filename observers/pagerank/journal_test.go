package pagerank

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/rank"
)

// changes reads "a=1 b=2 c=0": the numbers are Out, 0 for a node that is gone, and "!" is
// an error.
func changes(s string) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for _, f := range strings.Fields(s) {
			var c Change
			err := error(nil)
			if f == "!" {
				err = errBroken
			} else {
				c.Node, c.State.Out = f[:1], int(f[2]-'0')
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, stored, journal, want string }{
		{"nothing", "", "", ""},
		{"no journal", "a=1 b=2", "", "a=1 b=2"},
		{"nothing stored", "", "a=1 b=2", "a=1 b=2"},
		{"new states", "a=1 b=2", "b=3", "a=1 b=3"},
		{"before, between, after", "b=1 d=1", "a=2 c=2 e=2", "a=2 b=1 c=2 d=1 e=2"},
		{"gone", "a=1 b=2 c=3", "b=0", "a=1 c=3"},
		{"all gone", "a=1 b=2", "a=0 b=0", ""},
		{"gone and never stored", "b=1", "a=0 c=0", "b=1"},
		{"stored ends in an error", "a=1 !", "b=2", "a=1 !"},
		{"journal ends in an error", "a=1 d=1", "b=2 !", "a=1 b=2 !"},
		{"journal is an error", "a=1", "!", "!"},
		{"an error after the last", "a=1", "b=1 !", "a=1 b=1 !"},
		{"journal fails where nothing is stored", "", "!", "!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for c, err := range Overlay(changes(c.stored), changes(c.journal)) {
				if err != nil {
					got = append(got, "!")
					continue
				}
				got = append(got, c.Node+"="+string(rune('0'+c.State.Out)))
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%q over %q: %q, want %q", c.journal, c.stored, s, c.want)
			}
			for range Overlay(changes(c.stored), changes(c.journal)) {
				break // a caller that stops early gets nothing more
			}
		})
	}
}

func TestBuildGraph(t *testing.T) {
	t.Parallel()
	m := newMemory()
	run, _, err := m.update(t.Context(), 1e-9, Limits{}, targets("a: c; b: c; c: a b"))
	if err == nil {
		err = m.finish(t.Context(), run)
	}
	if err != nil {
		t.Fatal(err)
	}
	broken := func(yield func(Node, error) bool) {
		yield(Node{Name: "a", Targets: func(yield func([]byte, error) bool) { yield(nil, errBroken) }}, nil)
	}
	for _, c := range []struct {
		name    string
		nodes   iter.Seq2[Node, error]
		journal string
		says    string
	}{
		{"whole", m.nodes(m.stored()), "", ""},
		{"a node that only the journal knows is gone", m.nodes(m.stored()), "d=0", ""},
		{"no states", m.nodes(changes("")), "", `"a" has edges and no state`},
		{"a target without a state", m.nodes(changes("a=2 b=1")), "", `"c" has an edge from "a" and no state`},
		{"a state that is gone", m.nodes(m.stored()), "c=0", `"c" has an edge from "a" and no state`},
		{"nodes fail", m.nodes(changes("a=2 !")), "", "read the graph of ranks: disk on fire"},
		{"edges fail", broken, "", `read the graph of ranks: edges of "a": disk on fire`},
		{"journal fails", m.nodes(m.stored()), "!", "read the journal of ranks: disk on fire"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g, err := BuildGraph(c.nodes, changes(c.journal))
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("error %v, want %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			b, ok := g.Number("b")
			_, unknown := g.Number("x")
			gone := len(strings.Fields(c.journal)) // nodes without edges
			if !ok || b != 1 || unknown || g.Nodes() != 3+gone || g.Edges() != 4 {
				t.Errorf("b is %d, %t; x is known: %t; %d nodes, %d edges", b, ok, unknown, g.Nodes(), g.Edges())
			}
			if got := g.Rank(g.Ranks, "b"); got != m.states["b"].Rank {
				t.Errorf("rank of b is %v, want %v", got, m.states["b"].Rank)
			}
			if got := g.Rank(g.Ranks, "x"); got != rank.Teleport {
				t.Errorf("rank of a node without edges is %v", got)
			}
			if sum, largest := g.Residuals(); sum > 3*ResidualBound(1e-9) || largest > ResidualBound(1e-9) || sum < largest {
				t.Errorf("residuals %v, the largest %v", sum, largest)
			}
		})
	}
}

// TestOutlists: blocks end anywhere, and targets come back in the order in which they were
// added.
func TestOutlists(t *testing.T) {
	t.Parallel()
	var o outlists
	var want, got [][2]uint32
	for from := range uint32(3000) {
		list := make([]uint32, from%1700)
		for i := range list {
			list[i] = (from*2_654_435_761 + uint32(i)*40_503) >> (i % 20)
			want = append(want, [2]uint32{from, list[i]})
		}
		o.add(from, list)
	}
	for from, targets := range o.all() {
		for _, to := range targets {
			got = append(got, [2]uint32{from, to})
		}
	}
	if len(o.blocks) < 2 || !slices.Equal(got, want) {
		t.Errorf("%d edges in %d blocks, want %d edges", len(got), len(o.blocks), len(want))
	}
}
