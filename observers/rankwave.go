package observers

import (
	"context"
	"runtime/debug"
	"slices"

	"indexer/observers/pagerank"
	"indexer/schema"
	"indexer/txn"
)

// wave is the part of the link graph that a run of rank works on, in memory: the URLs
// it was woken for, and what follows from them.
type wave struct {
	waveRows
	bound  float64 // of residuals
	step   float64 // of publishing
	limits pagerank.Limits
	part   schema.PartSize // of edges
	levels levels
	visits int // edges that mass was passed along
	pushes int
	given  int // edges that are written
}

func newWave(tx *txn.Txn, tolerance float64, part schema.PartSize, limits pagerank.Limits) *wave {
	return &wave{waveRows: newWaveRows(tx), bound: ResidualBound(tolerance), step: publishStep(tolerance),
		limits: limits.Within(debug.SetMemoryLimit(-1)), part: part} // a negative limit only asks
}

// full holds if nothing more is to be read.
func (w *wave) full() bool {
	return len(w.nodes) >= w.limits.States || len(w.edges) >= 16*w.limits.States
}

// tired holds if nothing more is to be taken on.
func (w *wave) tired() bool {
	return w.full() || w.visits >= w.limits.Pushed || w.given >= w.limits.NewEdges
}

// later leaves rows for another run.
func (w *wave) later(rows []string) {
	for _, row := range rows {
		w.tx.Notify(row, schema.Push)
	}
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
	if err := w.correct(ctx, i, row); err != nil {
		return err
	}
	old, parts, err := w.readEdges(ctx, row)
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
	w.tx.Notify(schema.AppRow, schema.Tiebreak)
	w.given += len(now.Targets)
	w.writeEdges(row, parts, now)
	return nil
}

// writeEdges writes the edges of a URL, which had so many parts before.
func (w *wave) writeEdges(row string, had int, now schema.StoredEdges) {
	var parts [][]byte
	if len(now.Targets) > 0 {
		parts = now.EncodeParts(w.part)
	}
	for i, b := range parts {
		w.tx.Set(row, schema.Part(schema.Edges, i), b)
	}
	deleteParts(w.tx, row, schema.Edges, len(parts), had)
}

// correct adds a correction that was left for a node (repository/ranks.go).
func (w *wave) correct(ctx context.Context, i int32, row string) error {
	n := &w.nodes[i]
	v, err := w.tx.GetOnce(ctx, row, schema.Correction)
	if err != nil || !v.Exists {
		return err
	}
	c, err := schema.DecodeCorrection(v.Data)
	if err != nil {
		return err
	}
	if n.inlinks > 0 {
		n.in += c
	}
	w.tx.Delete(row, schema.Correction)
	return nil
}

// redirect moves what node i has passed on from its old targets to the new ones. Both
// lists ascend.
func (w *wave) redirect(ctx context.Context, i int32, old, now []string) error {
	spread := w.nodes[i].spread
	before, after := share(spread, len(old)), share(spread, len(now))
	first, count := uint32(len(w.edges)), uint32(len(now))
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
		m := &w.nodes[t]
		switch {
		case gone:
			m.in -= before
			m.inlinks--
		case kept:
			m.in += after - before
		default:
			m.in += after
			m.inlinks++
			m.linked = m.linked || m.inlinks == 1
		}
		if m.inlinks == 0 {
			m.in = 0 // whatever rounding has left
		}
		m.changed = true
		if !gone {
			w.edges = append(w.edges, t)
		}
		w.raise(t)
	}
	n := &w.nodes[i]
	n.first, n.out, n.changed = first, count, true
	if n.out == 0 {
		n.spread = 0
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
		n := &w.nodes[i]
		over := n.residual() / w.bound
		switch {
		case over <= 1 || n.left:
			continue
		case level(over) < w.levels.highest: // it has less by now: let others go first
			w.levels.push(w.nodes, i, level(over))
			continue
		case w.visits >= w.limits.Pushed, n.first == notRead && w.full():
			n.left = true
			continue
		}
		if err := ctx.Err(); err != nil { // it may take long
			return err
		}
		if err := w.reach(ctx, i); err != nil {
			return err
		}
		w.pass(i)
	}
}

// pass hands the residual of a node on to its targets. One of these may be the node
// itself.
func (w *wave) pass(i int32) {
	targets := w.targets(i)
	n := &w.nodes[i]
	now := n.estimate()
	each := (now - n.spread) / float64(len(targets))
	n.spread, n.changed = now, true
	for _, t := range targets {
		w.nodes[t].in += each
		w.nodes[t].changed = true
		w.raise(t)
	}
	w.visits += len(targets)
	w.pushes++
}

// raise has a node wait for its turn, if it has enough to pass on.
func (w *wave) raise(i int32) {
	n := &w.nodes[i]
	if n.out == 0 || n.left {
		return
	}
	if over := n.residual() / w.bound; over > 1 {
		w.levels.push(w.nodes, i, level(over))
	}
}
