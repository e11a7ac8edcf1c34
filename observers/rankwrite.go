package observers

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"indexer/schema"
	"indexer/txn"
)

// write writes what a run has changed, publishes the ranks that have moved, and leaves
// the rest of the work for another run; or it leaves all of that to a journal, if it is much.
func (w *wave) write(ctx context.Context) error {
	var changed []int32
	for i := range w.nodes {
		n := &w.nodes[i]
		w.publish(n)
		if n.changed || n.woken { // what has moved or is left has changed, or was woken
			changed = append(changed, int32(i))
		}
	}
	if len(changed) > w.limits.Direct {
		w.journal(changed)
		return nil
	}
	for _, i := range changed {
		if err := applyMass(ctx, w.tx, w.posting(i)); err != nil {
			return err
		}
	}
	return nil
}

// publish brings the rank of a URL up to its estimate if that has moved so far that
// it is worth telling. Others see nothing of smaller moves: a document must be the same
// whenever it is assembled.
//
// The first link to a URL is worth telling however little it brings. Without one the rank
// was exact, now it is within bounds (canonical.go): a cluster that was not contested may
// be, and nobody else has it looked at.
func (w *wave) publish(n *waveNode) {
	now := n.estimate()
	if !n.linked && (now == n.rank || n.inlinks > 0 && math.Abs(now-n.rank) <= w.step*n.rank) {
		return
	}
	n.rank, n.moved, n.changed = now, true, true
}

func (w *wave) posting(i int32) schema.Posting {
	n := &w.nodes[i]
	return schema.Posting{Row: w.row(i), State: n.mass(), Tell: n.moved || n.woken, More: n.left}
}

// journal leaves nodes to the runs that follow, in parts.
func (w *wave) journal(changed []int32) {
	slices.SortFunc(changed, func(a, b int32) int { return bytes.Compare(w.rowBytes(a), w.rowBytes(b)) })
	parts := 0
	for list := range slices.Chunk(changed, w.limits.Part) {
		part := make([]schema.Posting, len(list))
		for k, i := range list {
			part[k] = w.posting(i)
		}
		w.tx.Set(schema.JournalRow(parts), schema.RankPart, schema.EncodePostings(part))
		parts++
	}
	w.tx.Set(schema.AppRow, schema.RankJournal, schema.StoredJournal{Parts: parts}.Encode())
	w.tx.Continue(schema.AppRow, schema.Push)
}

// applyMass brings a mass to its row.
func applyMass(ctx context.Context, tx *txn.Txn, p schema.Posting) error {
	if p.State.Inlinks == 0 && p.State.Out == 0 {
		tx.Delete(p.Row, schema.RankState)
	} else {
		tx.Set(p.Row, schema.RankState, p.State.Encode())
	}
	if p.More {
		tx.Notify(p.Row, schema.Push)
	}
	if !p.Tell {
		return nil
	}
	if err := wakeCluster(ctx, tx, p.Row, schema.Ranked); err != nil {
		return fmt.Errorf("cluster of %q: %w", p.Row, err)
	}
	return nil
}

// wakeCluster wakes an observer of clusters at the member row of a URL, if it has one.
func wakeCluster(ctx context.Context, tx *txn.Txn, row string, c txn.Column) error {
	walk, err := readWalk(ctx, tx, row)
	if err != nil || len(walk) == 0 {
		return err
	}
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return err
	}
	if m, ok := membershipOf(u, walk); ok {
		tx.Notify(schema.MemberRow(m.key, m.info), c)
	}
	return nil
}

// readRankState reads the rank of a URL with what it is made of.
func readRankState(ctx context.Context, tx *txn.Txn, row string) (schema.StoredRankState, error) {
	v, err := tx.Get(ctx, row, schema.RankState)
	if err != nil {
		return schema.StoredRankState{}, err
	}
	return schema.DecodeRankState(v.Data)
}
