package observers

import (
	"context"
	"math"
	"slices"

	"indexer/schema"
	"indexer/txn"
)

// wave is the part of the link graph that a run of rank works on, in memory: the URLs
// it was woken for, and what follows from them. Nodes are numbered as they are met.
type wave struct {
	tx     *txn.Txn
	bound  float64 // of residuals
	step   float64 // of publishing
	nodes  []waveNode
	byRow  map[string]int32
	levels levels
	visits int // edges that mass was passed along
	pushes int
	left   []int32 // nodes above the bound whose targets there was no room for
}

type waveNode struct {
	row     string
	mass    schema.StoredMass
	stored  schema.StoredMass
	targets []int32
	reached bool // targets are filled in
	woken   bool
	left    bool
	level   int8 // where it waits in levels, -1 if nowhere
}

func newWave(tx *txn.Txn, tolerance float64) *wave {
	return &wave{tx: tx, bound: ResidualBound(tolerance), step: publishStep(tolerance), byRow: make(map[string]int32)}
}

func (w *wave) full() bool { return len(w.nodes) >= rankRows || w.visits >= rankVisits }

// later leaves rows for another run.
func (w *wave) later(rows []string) {
	for _, row := range rows {
		w.tx.Notify(row, schema.Push)
	}
}

// node is the number of a row's node, which is read when it is met for the first time.
func (w *wave) node(ctx context.Context, row string) (int32, error) {
	if i, ok := w.byRow[row]; ok {
		return i, nil
	}
	v, err := w.tx.Get(ctx, row, schema.Mass)
	if err != nil {
		return 0, err
	}
	m, err := schema.DecodeMass(v.Data)
	if err != nil {
		return 0, err
	}
	i := int32(len(w.nodes))
	w.nodes = append(w.nodes, waveNode{row: row, mass: m, stored: m, level: -1})
	w.byRow[row] = i
	return i, nil
}

// renew brings the edges of a URL up to date: it takes back what it passed on along
// those that are gone, and passes on its part along those that are new.
func (w *wave) renew(ctx context.Context, row string) error {
	if _, err := w.tx.GetRow(ctx, row, schema.GroupRank); err != nil { // all of it in one look-up
		return err
	}
	i, err := w.node(ctx, row)
	if err != nil {
		return err
	}
	w.nodes[i].woken = true
	if err := w.correct(ctx, i); err != nil {
		return err
	}
	old, err := w.readEdges(ctx, row)
	if err != nil {
		return err
	}
	now, err := edgesOf(ctx, w.tx, row, old)
	if err != nil {
		return err
	}
	if slices.Equal(old.Targets, now.Targets) {
		w.raise(i)
		return nil
	}
	if err := w.redirect(ctx, i, old.Targets, now.Targets); err != nil {
		return err
	}
	w.tx.Notify(schema.AppRow, schema.Settle)
	if len(now.Targets) == 0 {
		w.tx.Delete(row, schema.Edges)
	} else {
		w.tx.Set(row, schema.Edges, now.Encode())
	}
	return nil
}

// correct adds a correction that was left for a node (repository/ranks.go).
func (w *wave) correct(ctx context.Context, i int32) error {
	n := &w.nodes[i]
	v, err := w.tx.Get(ctx, n.row, schema.Correction)
	if err != nil || !v.Exists {
		return err
	}
	c, err := schema.DecodeCorrection(v.Data)
	if err != nil {
		return err
	}
	if n.mass.Inlinks > 0 {
		n.mass.In += c
	}
	w.tx.Delete(n.row, schema.Correction)
	return nil
}

func (w *wave) readEdges(ctx context.Context, row string) (schema.StoredEdges, error) {
	v, err := w.tx.Get(ctx, row, schema.Edges)
	if err != nil {
		return schema.StoredEdges{}, err
	}
	return schema.DecodeEdges(v.Data)
}

// redirect moves what node i has passed on from its old targets to the new ones. Both
// lists ascend.
func (w *wave) redirect(ctx context.Context, i int32, old, now []string) error {
	spread := w.nodes[i].mass.Spread
	before, after := share(spread, len(old)), share(spread, len(now))
	targets := make([]int32, 0, len(now))
	for len(old) > 0 || len(now) > 0 {
		var row string
		var gone, kept bool
		switch {
		case len(now) == 0 || len(old) > 0 && old[0] < now[0]:
			row, gone, old = old[0], true, old[1:]
		case len(old) == 0 || now[0] < old[0]:
			row, now = now[0], now[1:]
		default:
			row, kept, old, now = now[0], true, old[1:], now[1:]
		}
		t, err := w.node(ctx, row)
		if err != nil {
			return err
		}
		m := &w.nodes[t].mass
		switch {
		case gone:
			m.In -= before
			m.Inlinks--
		case kept:
			m.In += after - before
		default:
			m.In += after
			m.Inlinks++
		}
		if m.Inlinks == 0 {
			m.In = 0 // whatever rounding has left
		}
		if !gone {
			targets = append(targets, t)
		}
		w.raise(t)
	}
	n := &w.nodes[i]
	n.targets, n.reached, n.mass.Out = targets, true, len(targets)
	if n.mass.Out == 0 {
		n.mass.Spread = 0
	}
	w.raise(i)
	return nil
}

// share is what each of n targets gets of a rank.
func share(spread float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return spread / float64(n)
}

// push has the nodes above the bound pass on what they have, the fullest first, until
// none is left, or the run has done its part.
func (w *wave) push(ctx context.Context) error {
	for {
		i, ok := w.levels.pop(w.nodes)
		if !ok {
			return nil
		}
		over := math.Abs(w.nodes[i].mass.Residual()) / w.bound
		switch {
		case over <= 1 || w.nodes[i].left:
			continue
		case level(over) < w.levels.highest: // it has less by now: let others go first
			w.levels.push(w.nodes, i, level(over))
			continue
		case w.visits >= rankVisits, !w.nodes[i].reached && len(w.nodes) >= rankRows:
			w.nodes[i].left = true
			w.left = append(w.left, i)
			continue
		}
		if err := w.reach(ctx, i); err != nil {
			return err
		}
		w.pass(i)
	}
}

// reach fills in the targets of a node.
func (w *wave) reach(ctx context.Context, i int32) error {
	if w.nodes[i].reached {
		return nil
	}
	edges, err := w.readEdges(ctx, w.nodes[i].row)
	if err != nil {
		return err
	}
	targets := make([]int32, len(edges.Targets))
	for k, row := range edges.Targets {
		if targets[k], err = w.node(ctx, row); err != nil {
			return err
		}
	}
	w.nodes[i].targets, w.nodes[i].reached = targets, true
	return nil
}

// pass hands the residual of a node on to its targets. One of these may be the node
// itself.
func (w *wave) pass(i int32) {
	n := &w.nodes[i]
	now := n.mass.Estimate()
	each := (now - n.mass.Spread) / float64(len(n.targets))
	n.mass.Spread = now
	for _, t := range n.targets {
		w.nodes[t].mass.In += each
		w.raise(t)
	}
	w.visits += len(n.targets)
	w.pushes++
}

// raise has a node wait for its turn, if it has enough to pass on.
func (w *wave) raise(i int32) {
	n := &w.nodes[i]
	if n.mass.Out == 0 || n.left {
		return
	}
	if over := math.Abs(n.mass.Residual()) / w.bound; over > 1 {
		w.levels.push(w.nodes, i, level(over))
	}
}

// level is the binary logarithm of by how many times a residual is over the bound.
func level(over float64) int8 {
	return int8(max(0, min(math.Ilogb(over), len(levels{}.waiting)-1)))
}

// levels is a priority queue that knows residuals up to a factor of two. A node stands
// at the highest level that it was pushed to since it was popped; what is left of it
// at lower ones is skipped.
type levels struct {
	waiting [48][]int32
	highest int8
}

func (l *levels) push(nodes []waveNode, i int32, level int8) {
	if level <= nodes[i].level {
		return
	}
	nodes[i].level = level
	l.waiting[level] = append(l.waiting[level], i)
	l.highest = max(l.highest, level)
}

func (l *levels) pop(nodes []waveNode) (int32, bool) {
	for ; l.highest >= 0; l.highest-- {
		list := l.waiting[l.highest]
		for len(list) > 0 {
			i := list[len(list)-1]
			list = list[:len(list)-1]
			if nodes[i].level == l.highest {
				nodes[i].level = -1
				l.waiting[l.highest] = list
				return i, true
			}
		}
		l.waiting[l.highest] = list
	}
	l.highest = 0
	return 0, false
}
