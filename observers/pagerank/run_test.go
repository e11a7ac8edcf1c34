package pagerank

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// targets reads "a: b c; d: a" as the targets of nodes.
func targets(s string) map[string][]string {
	m := make(map[string][]string)
	for node := range strings.SplitSeq(s, ";") {
		if name, list, ok := strings.Cut(node, ":"); ok {
			m[strings.TrimSpace(name)] = strings.Fields(list)
		}
	}
	return m
}

// TestUpdate gives small graphs new edges, step by step. Ranks are checked by hand: with
// chains and dead ends they are exact.
func TestUpdate(t *testing.T) {
	t.Parallel()
	const alone, one = 0.15, 0.15 + 0.85*0.15 // one: with one inlink from a page that has only that link
	for _, c := range []struct {
		name  string
		steps []string
		want  map[string]float64 // ranks of the nodes that are left
	}{
		{"nothing", []string{"a:"}, nil},
		{"one edge", []string{"a: b"}, map[string]float64{"a": alone, "b": one}},
		{"edge goes", []string{"a: b", "a:"}, nil},
		{"edge moves", []string{"a: b", "a: c"}, map[string]float64{"a": alone, "c": one}},
		{"edges share", []string{"a: b c"}, map[string]float64{"a": alone, "b": 0.15 + 0.85*0.075, "c": 0.15 + 0.85*0.075}},
		{"share grows when an edge goes", []string{"a: b c", "a: c"}, map[string]float64{"a": alone, "c": one}},
		{"two sources", []string{"a: c", "b: c"}, map[string]float64{"a": alone, "b": alone, "c": 0.15 + 0.85*0.3}},
		{"one of two sources goes", []string{"a: c; b: c", "b:"}, map[string]float64{"a": alone, "c": one}},
		{"chain", []string{"a: b", "b: c"}, map[string]float64{"a": alone, "b": one, "c": 0.15 + 0.85*one}},
		{"chain from behind", []string{"b: c", "a: b"}, map[string]float64{"a": alone, "b": one, "c": 0.15 + 0.85*one}},
		{"itself", []string{"a: a"}, map[string]float64{"a": 1}},
		{"circle", []string{"a: b; b: a"}, map[string]float64{"a": 1, "b": 1}},
		{"circle is cut", []string{"a: b; b: a", "b:"}, map[string]float64{"a": alone, "b": one}},
		{"names that sort together", []string{"a: ab abc; ab: abc"}, map[string]float64{"a": alone, "ab": 0.15 + 0.85*0.075, "abc": 0.15 + 0.85*(0.075+0.15+0.85*0.075)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const tolerance = 1e-9
			m := newMemory()
			for _, step := range c.steps {
				run, _, err := m.update(t.Context(), tolerance, Limits{}, targets(step))
				if err == nil {
					err = m.finish(t.Context(), run)
				}
				if err == nil {
					err = m.check(t, tolerance, true)
				}
				if err != nil {
					t.Fatalf("after %q: %v", step, err)
				}
			}
			if got, want := slices.Sorted(maps.Keys(m.states)), slices.Sorted(maps.Keys(c.want)); !slices.Equal(got, want) {
				t.Fatalf("nodes %q, want %q", got, want)
			}
			for node, want := range c.want {
				if got := m.states[node].Rank; math.Abs(got-want) > 2*tolerance {
					t.Errorf("rank of %s is %v, want %v", node, got, want)
				}
			}
		})
	}
}

// TestRandomGraphs changes the edges of random graphs, in runs with limits of all sizes,
// and checks the invariants after each run, after each part of a journal, and at rest.
func TestRandomGraphs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		nodes     int
		tolerance float64
		limits    Limits
	}{
		{"small", 5, 0.0025, Limits{}},
		{"usual", 60, 0.0025, Limits{}},
		{"exact", 30, 1e-7, Limits{}},
		{"coarse", 60, 0.1, Limits{}},
		{"few states", 30, 0.02, Limits{States: 12}},
		{"few edges at a time", 40, 0.01, Limits{Pushed: 7}},
		{"few new edges", 40, 0.0025, Limits{NewEdges: 3}},
		{"journal", 40, 0.0025, Limits{Direct: 2, Part: 3}},
		{"ahead", 60, 0.0025, Limits{Ahead: 8}},
		{"ahead, few states", 30, 0.02, Limits{States: 12, Ahead: 3}},
		{"all small", 20, 0.02, Limits{States: 8, Pushed: 40, NewEdges: 9, Direct: 1, Part: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seeds := 10
			if testenv.Long() {
				seeds = 500
			}
			first, only := testenv.FirstSeed(t, testenv.Fresh(t))
			if only {
				seeds = 1
			}
			for seed := range uint64(seeds) {
				if err := changeAtRandom(t, first+seed, c.nodes, c.tolerance, c.limits); err != nil {
					t.Fatalf("INDEXER_SEED=%d: %v", first+seed, err)
				}
			}
		})
	}
}

func changeAtRandom(t *testing.T, seed uint64, nodes int, tolerance float64, limits Limits) error {
	random := rand.New(rand.NewPCG(seed, 0))
	m := newMemory()
	name := func() string { return fmt.Sprintf("n%d", random.IntN(nodes)) }
	for range 4 {
		now := make(map[string][]string)
		for range random.IntN(nodes) {
			var list []string
			for range random.IntN(5) {
				list = append(list, name())
			}
			now[name()] = list
		}
		for runs := 0; len(now) > 0 || runs == 0; runs++ {
			if runs > 2000 {
				return fmt.Errorf("%d runs, and %d nodes left: it does not end", runs, len(now))
			}
			if err := runOnce(t, m, tolerance, limits, now); err != nil {
				return err
			}
		}
		if err := m.check(t, tolerance, true); err != nil {
			return fmt.Errorf("at rest: %w", err)
		}
	}
	return nil
}

// runOnce makes a run on some nodes, and leaves in now those that need another one.
func runOnce(t *testing.T, m *memory, tolerance float64, limits Limits, now map[string][]string) error {
	run, left, err := m.update(t.Context(), tolerance, limits, now)
	if err != nil {
		return err
	}
	if err := m.finish(t.Context(), run); err != nil {
		return err
	}
	maps.DeleteFunc(now, func(node string, _ []string) bool { return !slices.Contains(left, node) })
	for {
		if err := m.check(t, tolerance, false); err != nil {
			return fmt.Errorf("%d parts left: %w", len(m.journal), err)
		}
		if len(m.journal) == 0 {
			break
		}
		m.applyPart()
	}
	for node := range m.again {
		if _, ok := now[node]; !ok {
			now[node] = m.edges[node]
		}
	}
	clear(m.again)
	return nil
}

// TestLimits makes one run on a star, a hub with a hundred targets that each have one
// target of their own, under several limits.
func TestLimits(t *testing.T) {
	t.Parallel()
	star := map[string][]string{}
	for i := range 100 {
		star["hub"] = append(star["hub"], fmt.Sprintf("spoke%03d", i))
		star[fmt.Sprintf("spoke%03d", i)] = []string{fmt.Sprintf("tip%03d", i)}
	}
	for _, c := range []struct {
		name    string
		limits  Limits
		left    int   // nodes whose edges were not updated
		parts   []int // sizes
		direct  bool
		pushing bool // no residual is left
	}{
		{"usual", Limits{}, 0, []int{201}, true, true},
		{"as many as there are", Limits{Direct: 201}, 0, []int{201}, true, true},
		{"one less", Limits{Direct: 200, Part: 150}, 0, []int{150, 51}, false, true},
		{"parts of one size", Limits{Direct: 1, Part: 67}, 0, []int{67, 67, 67}, false, true},
		{"new edges", Limits{NewEdges: 50}, 100, []int{101}, true, true},
		{"states", Limits{States: 110, Direct: 1, Part: 1000}, 91, []int{110}, false, true},
		{"pushed edges", Limits{Pushed: 1}, 0, []int{201}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			run, left, err := m.update(t.Context(), 1e-6, c.limits, star)
			if err == nil {
				err = run.Push(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			parts, direct := run.Finish()
			var sizes []int
			again, last := 0, ""
			for part := range parts {
				sizes = append(sizes, len(part))
				for _, change := range part {
					if change.Node <= last {
						t.Fatalf("%q comes after %q", change.Node, last)
					}
					if last = change.Node; change.Again {
						again++
					}
				}
			}
			if len(left) != c.left || !slices.Equal(sizes, c.parts) || direct != c.direct || (again == 0) != c.pushing {
				t.Errorf("left %d, parts %v, direct %t, %d to push again; want %d, %v, %t, none %t", len(left), sizes, direct, again, c.left, c.parts, c.direct, c.pushing)
			}
			if w := run.Work(); w.Updated != len(star)-len(left) || w.States != sum(sizes) || w.Pushes > w.Edges {
				t.Errorf("work %+v", w)
			}
		})
	}
}

// TestLongNames: a run holds fewer states if the names of nodes are long.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 4*bytesPerName-3)
	now := make(map[string][]string)
	for i := range 100 {
		now[fmt.Sprintf("a%02d", i)+long] = []string{fmt.Sprintf("b%02d", i) + long}
	}
	_, left, err := newMemory().update(t.Context(), 1e-6, Limits{States: 80}, now)
	if want := len(now) - 80/4/2; err != nil || len(left) != want { // an update reads two states
		t.Errorf("%d nodes left, %v, want %d", len(left), err, want)
	}
}

func sum(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

// TestWithin fills in defaults and keeps to the memory that there is.
func TestWithin(t *testing.T) {
	t.Parallel()
	usual := Limits{States: 1 << 22, Pushed: 256_000_000, NewEdges: 2_000_000, Direct: 12_000, Part: 8_000}
	small := usual
	small.States, small.NewEdges = 100<<20/3/bytesPerState, leastNewEdges
	least := small
	least.States = least.Direct
	middle := usual
	middle.States, middle.NewEdges = 600<<20/3/bytesPerState, 600<<20/25/bytesPerNewEdge
	own := Limits{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		limits Limits
		memory int64
		want   Limits
	}{
		{Limits{}, math.MaxInt64, usual},
		{Limits{}, 100 << 20, small},
		{Limits{}, 600 << 20, middle},
		{Limits{}, 1, least},
		{own, math.MaxInt64, own},
		{Limits{Part: 7}, math.MaxInt64, Limits{1 << 22, 256_000_000, 2_000_000, 12_000, 7, 0}},
	} {
		if got := c.limits.Within(c.memory); got != c.want {
			t.Errorf("%+v within %d bytes: %+v, want %+v", c.limits, c.memory, got, c.want)
		}
	}
}

// TestMoved checks which nodes a run reports as moved.
func TestMoved(t *testing.T) {
	t.Parallel()
	const tolerance = 0.1 // published from a fortieth on
	for _, c := range []struct {
		name  string
		state State // of b; a, if it links there already, has 0.1 more to push
		edges string
		moved []string
	}{
		{"far enough", State{Inlinks: 1, In: 0.05, Rank: 0.26}, "a: b", []string{"a", "b"}},
		{"not far enough", State{Inlinks: 1, In: 0.05, Rank: 0.275}, "a: b", []string{"a"}},
		{"first inlink", NoState, "a: b", []string{"a", "b"}},
		{"last inlink", State{Inlinks: 1, In: 0.05, Rank: 0.151}, "a:", []string{"a", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			if c.state.Inlinks > 0 {
				m.states["a"], m.states["b"] = State{Out: 1, Pushed: 0.05, Rank: 0.15}, c.state
				m.edges["a"] = []string{"b"}
			}
			run, _, err := m.update(t.Context(), tolerance, Limits{}, targets(c.edges))
			if err == nil {
				err = run.Push(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			var moved []string
			parts, _ := run.Finish()
			for part := range parts {
				for _, change := range part {
					if change.Moved {
						moved = append(moved, change.Node)
					}
				}
			}
			if !slices.Equal(moved, c.moved) {
				t.Errorf("moved %q, want %q", moved, c.moved)
			}
		})
	}
}

// TestCorrection adds what rounding has lost to the sum of a node, if it still has one.
func TestCorrection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		node string
		want State
	}{
		{"b", State{Inlinks: 1, In: 0.25, Rank: 0.15 + 0.85*0.25}},
		{"a", State{Out: 1, Pushed: 0.15, Rank: 0.15}},
	} {
		m := newMemory()
		m.states["a"], m.states["b"] = State{Out: 1, Pushed: 0.15, Rank: 0.15}, State{Inlinks: 1, In: 0.15, Rank: 0.2775}
		m.edges["a"] = []string{"b"}
		run := NewRun(m, 0.0025, Limits{}.Within(math.MaxInt64))
		changed, err := run.Update(t.Context(), c.node, 0.1, m.edges[c.node], m.edges[c.node])
		if err == nil {
			err = m.finish(t.Context(), run)
		}
		if err != nil || changed {
			t.Fatalf("%t, %v", changed, err)
		}
		if got := m.states[c.node]; got != c.want {
			t.Errorf("%s with a correction: %+v, want %+v", c.node, got, c.want)
		}
	}
}

// TestRunErrors: reads that fail, states that contradict the edges, a run that is
// cancelled.
func TestRunErrors(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.states["a"], m.states["b"] = State{Out: 1, Pushed: 0.15, Rank: 0.15}, State{Inlinks: 1, In: 0.15, Out: 2, Pushed: 0.1, Rank: 0.2775}
	m.edges["a"], m.edges["b"] = []string{"b"}, []string{"c"} // b's state says two
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		reader Reader
		node   string
		now    []string
		want   error
		says   string
	}{
		{"woken", t.Context(), broken{m, "a"}, "a", []string{"b"}, errBroken, `rank state of "a"`},
		{"old target", t.Context(), broken{m, "b"}, "a", nil, errBroken, `rank state of "b"`},
		{"target of a push", t.Context(), broken{m, "c"}, "b", []string{"c"}, ErrInconsistent, `"b" has 1 edges, and 2 by its state`},
		{"contradiction", t.Context(), m, "b", []string{"c"}, ErrInconsistent, `"b" has 1 edges, and 2 by its state`},
		{"cancelled", cancelled, m, "b", []string{"c"}, context.Canceled, "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := NewRun(c.reader, 0.0025, Limits{}.Within(math.MaxInt64))
			_, err := run.Update(c.ctx, c.node, 0, m.edges[c.node], c.now)
			if err == nil {
				err = run.Push(c.ctx)
			}
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

// TestLevels takes nodes out by level, each once, at the highest level that it was added at.
func TestLevels(t *testing.T) {
	t.Parallel()
	random := testenv.Random(t)
	var l levels
	nodes := make([]node, 50)
	want := make(map[int32]int8)
	for i := range nodes {
		nodes[i].level = -1
	}
	for range 5000 {
		if random.IntN(3) > 0 {
			i, at := int32(random.IntN(len(nodes))), level(math.Exp(40*random.Float64()))
			l.push(nodes, i, at)
			want[i] = max(want[i], at)
			continue
		}
		i, ok := l.pop(nodes)
		highest := int8(-1)
		for _, at := range want {
			highest = max(highest, at)
		}
		if ok != (len(want) > 0) || ok && want[i] != highest {
			t.Fatalf("took out %d, %t; the highest of %v is %d", i, ok, want, highest)
		}
		delete(want, i)
	}
}
