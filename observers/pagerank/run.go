package pagerank

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/webindexer/indexer/internal/rank"
)

// Run is a push run: it takes nodes whose edges may have changed (Update), pushes all that
// follows from that in memory (Push), and returns the states that have changed (Finish).
// It reads and returns each state once, however many inlinks of the node have changed. Use
// a run once. After an error, the caller must write nothing of it.
type Run struct {
	subgraph
	limits   Limits
	bound    float64 // of residuals
	step     float64 // relative, of published ranks
	waiting  levels
	ahead    map[int32]bool // nodes whose edges were read ahead last
	newEdges int
	work     Work
}

// Work counts what a run has done.
type Work struct {
	Updated int // nodes given to Update
	States  int // states read
	Pushes  int // how often a node has passed on its residual
	Edges   int // edges along which residuals were passed on
}

// NewRun begins a run. The tolerance bounds the relative error of published ranks. It may
// differ from that of earlier runs if the caller then gives all nodes to Update. The
// limits must come from Limits.Within.
func NewRun(reader Reader, tolerance float64, limits Limits) *Run {
	return &Run{
		subgraph: subgraph{reader: reader, numbers: rank.NewNames()}, limits: limits,
		bound: ResidualBound(tolerance), step: publishStep(tolerance),
	}
}

// Work returns what the run has done so far.
func (r *Run) Work() Work {
	r.work.States = len(r.nodes)
	return r.work
}

// Full reports whether the run has no room for another Update.
func (r *Run) Full() bool { return r.full() || r.newEdges >= r.limits.NewEdges }

// full reports whether the run may read no more states.
func (r *Run) full() bool {
	return len(r.nodes) >= r.limits.States || len(r.edges) >= 16*r.limits.States || len(r.names) >= bytesPerName*r.limits.States
}

// Update brings a node's edges up to date: old has its targets as stored, now those that
// it has from now on, both ascending. It reports whether they differ; if so, the caller
// stores the new ones. Update adds the correction to In, to make up for rounding.
func (r *Run) Update(ctx context.Context, node string, correction float64, old, now []string) (changed bool, err error) {
	i, err := r.number(ctx, node)
	if err != nil {
		return false, err
	}
	r.work.Updated++
	n := &r.nodes[i]
	n.updated = true
	if n.inlinks > 0 {
		n.in += correction
	}
	if slices.Equal(old, now) {
		r.enqueue(i)
		return false, nil
	}
	r.newEdges += len(now)
	return true, r.redirect(ctx, i, old, now)
}

// redirect moves the rank that a node has passed on from its old targets to its new ones.
func (r *Run) redirect(ctx context.Context, i int32, old, now []string) error {
	pushed := r.nodes[i].pushed
	before, after := share(pushed, len(old)), share(pushed, len(now))
	first, count := uint32(len(r.edges)), uint32(len(now))
	for len(old) > 0 || len(now) > 0 {
		var name string
		var gone, kept bool
		switch {
		case len(now) == 0 || len(old) > 0 && old[0] < now[0]:
			name, gone, old = old[0], true, old[1:]
		case len(old) == 0 || now[0] < old[0]:
			name, now = now[0], now[1:]
		default:
			name, kept, old, now = now[0], true, old[1:], now[1:]
		}
		t, err := r.number(ctx, name)
		if err != nil {
			return err
		}
		switch n := &r.nodes[t]; {
		case gone:
			n.unlink(before)
		case kept:
			n.in += after - before
		default:
			n.link(after)
		}
		r.nodes[t].changed = true
		if !gone {
			r.edges = append(r.edges, t)
		}
		r.enqueue(t)
	}
	n := &r.nodes[i]
	n.first, n.out, n.changed = first, count, true
	if n.out == 0 {
		n.pushed = 0
	}
	r.enqueue(i)
	return nil
}

func (n *node) link(share float64) {
	n.in += share
	n.inlinks++
	n.linked = n.linked || n.inlinks == 1
}

func (n *node) unlink(share float64) {
	n.in -= share
	if n.inlinks--; n.inlinks == 0 {
		n.in = 0 // drop what rounding has left
	}
}

// share returns what each of n targets gets of a rank.
func share(rank float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return rank / float64(n)
}

// Push passes on the residuals that exceed the bound, the largest first, until there are
// none, or until the run has reached a limit. It pushes at least once: otherwise a run
// that is full with the nodes given to Update would leave the same work to the next one,
// for ever.
func (r *Run) Push(ctx context.Context) error {
	for {
		i, ok := r.waiting.pop(r.nodes)
		if !ok {
			return nil
		}
		n := &r.nodes[i]
		over := n.residual() / r.bound
		switch {
		case over <= 1 || n.again:
			continue
		case level(over) < r.waiting.highest: // it has become less: others go first
			r.waiting.push(r.nodes, i, level(over))
			continue
		case r.work.Pushes > 0 && (r.work.Edges >= r.limits.Pushed || n.first == notRead && r.full()):
			n.again = true
			continue
		}
		if err := ctx.Err(); err != nil { // a run may take seconds
			return err
		}
		if err := r.readAhead(ctx, i); err != nil {
			return err
		}
		if err := r.readTargets(ctx, i); err != nil {
			return err
		}
		r.push(i)
	}
}

// readAhead reads the edges of a node together with those of the nodes that are likely to follow
// it, if the run reads ahead and has not done so yet.
func (r *Run) readAhead(ctx context.Context, i int32) error {
	if r.limits.Ahead == 0 || r.nodes[i].first != notRead || r.ahead[i] {
		return nil
	}
	next := append([]int32{i}, r.waiting.next(r.limits.Ahead-1, func(j int32) bool { return j != i && r.nodes[j].first == notRead })...)
	r.ahead = make(map[int32]bool, len(next))
	names := make([]string, len(next))
	for k, j := range next {
		r.ahead[j], names[k] = true, r.name(j)
	}
	if err := r.reader.ReadAhead(ctx, names, r.Known); err != nil {
		return fmt.Errorf("read edges ahead: %w", err)
	}
	return nil
}

// push passes the residual of a node on to its targets. The node itself may be one of
// them.
func (r *Run) push(i int32) {
	targets := r.targets(i)
	n := &r.nodes[i]
	now := n.estimate()
	each := (now - n.pushed) / float64(len(targets))
	n.pushed, n.changed = now, true
	for _, t := range targets {
		r.nodes[t].in += each
		r.nodes[t].changed = true
		r.enqueue(t)
	}
	r.work.Edges += len(targets)
	r.work.Pushes++
}

// enqueue makes a node wait for its turn to push, if its residual exceeds the bound.
func (r *Run) enqueue(i int32) {
	n := &r.nodes[i]
	if n.again {
		return
	}
	if over := n.residual() / r.bound; over > 1 {
		r.waiting.push(r.nodes, i, level(over))
	}
}

// Finish publishes the ranks that have moved, and returns the states that have changed,
// by name. If these are at most Limits.Direct, direct is true and there is at most one
// part, which the caller writes at once. Otherwise the parts are a journal.
func (r *Run) Finish() (parts iter.Seq[[]Change], direct bool) {
	var changed []int32
	for i := range r.nodes {
		n := &r.nodes[i]
		r.publish(n)
		if n.changed || n.updated { // a node that has moved or has to push again is one of these
			changed = append(changed, int32(i))
		}
	}
	slices.SortFunc(changed, func(a, b int32) int { return bytes.Compare(r.nameBytes(a), r.nameBytes(b)) })
	direct = len(changed) <= r.limits.Direct
	size := r.limits.Part
	if direct {
		size = max(1, len(changed))
	}
	return func(yield func([]Change) bool) {
		for list := range slices.Chunk(changed, size) {
			part := make([]Change, len(list))
			for k, i := range list {
				n := &r.nodes[i]
				part[k] = Change{Node: r.name(i), State: n.state(), Moved: n.moved || n.updated, Again: n.again}
			}
			if !yield(part) {
				return
			}
		}
	}, direct
}

// publish sets the rank of a node to its estimate if the estimate has moved far enough.
// Other observers do not see smaller moves, so what they compute from ranks does not
// depend on when they compute it.
//
// It also reports the first inlink of a node, however little rank that brings. Without
// inlinks the rank was exact; with one it has bounds. So a choice between nodes by their
// ranks may have become uncertain, and nothing else would cause it to be checked.
func (r *Run) publish(n *node) {
	now := n.estimate()
	if !n.linked && (now == n.rank || n.inlinks > 0 && math.Abs(now-n.rank) <= r.step*n.rank) {
		return
	}
	n.rank, n.moved, n.changed = now, true, true
}
