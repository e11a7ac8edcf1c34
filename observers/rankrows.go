package observers

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// rankRows are the rank rows of the table as the graph of a push run (pagerank.Reader).
type rankRows struct {
	tx   *txn.Txn
	part schema.PartSize // of edges
}

// State reads a rank state.
func (r *rankRows) State(ctx context.Context, row string) (pagerank.State, error) {
	v, err := r.tx.GetOnce(ctx, row, schema.RankState)
	if err != nil {
		return pagerank.State{}, err
	}
	s, err := schema.DecodeRankState(v.Data)
	return pagerank.State(s), err
}

// Targets reads the rows to which a URL passes rank on.
func (r *rankRows) Targets(ctx context.Context, row string) ([]string, error) {
	edges, _, err := r.edges(ctx, row)
	return edges.Targets, err
}

// update brings the edges of a URL up to date with what was fetched, and adds a correction
// that a full solve has left.
func (r *rankRows) update(ctx context.Context, run *pagerank.Run, row string) error {
	if err := r.tx.Prefetch(ctx, row, schema.Correction, schema.Edges, schema.RankState); err != nil {
		return err
	}
	correction, err := r.correction(ctx, row)
	if err != nil {
		return err
	}
	old, parts, err := r.edges(ctx, row)
	if err != nil {
		return err
	}
	now, err := edgesOf(ctx, r.tx, row, old)
	if err != nil {
		return err
	}
	changed, err := run.Update(ctx, row, correction, old.Targets, now.Targets)
	if changed {
		r.tx.Notify(schema.AppRow, schema.Tiebreak)
		r.writeEdges(row, parts, now)
	}
	return err
}

// correction takes away the correction at a row (repository/ranks.go).
func (r *rankRows) correction(ctx context.Context, row string) (float64, error) {
	v, err := r.tx.GetOnce(ctx, row, schema.Correction)
	if err != nil || !v.Exists {
		return 0, err
	}
	r.tx.Delete(row, schema.Correction)
	return schema.DecodeCorrection(v.Data)
}

// edges reads the edges of a URL, and how many parts they have.
func (r *rankRows) edges(ctx context.Context, row string) (edges schema.StoredEdges, parts int, err error) {
	for further := 0; parts <= further; parts++ {
		v, err := r.tx.GetOnce(ctx, row, schema.Part(schema.Edges, parts))
		if err != nil {
			return edges, 0, err
		}
		if parts == 0 && !v.Exists {
			return edges, 0, nil
		}
		part, more, err := schema.DecodeEdgePart(v.Data)
		if err != nil {
			return edges, 0, err
		}
		if parts == 0 {
			edges, further = part, more
		} else {
			edges.Targets = append(edges.Targets, part.Targets...)
		}
	}
	return edges, parts, nil
}

// writeEdges writes the edges of a URL, which had so many parts before.
func (r *rankRows) writeEdges(row string, had int, now schema.StoredEdges) {
	var parts [][]byte
	if len(now.Targets) > 0 {
		parts = now.EncodeParts(r.part)
	}
	for i, b := range parts {
		r.tx.Set(row, schema.Part(schema.Edges, i), b)
	}
	deleteParts(r.tx, row, schema.Edges, len(parts), had)
}

// edgesOf returns the edges that a URL has by what was fetched: the known ones if nothing
// that they were read from has changed since.
func edgesOf(ctx context.Context, tx *txn.Txn, row string, known schema.StoredEdges) (schema.StoredEdges, error) {
	state, err := tx.GetOnce(ctx, row, schema.State)
	if err != nil {
		return known, err
	}
	links, err := tx.GetOnce(ctx, row, schema.Links)
	if err != nil {
		return known, err
	}
	if known.State == state.TS && known.Links == links.TS && state.Exists {
		return known, nil
	}
	now := schema.StoredEdges{State: state.TS, Links: links.TS}
	now.Targets, err = targetsOf(ctx, tx, row, state.Data)
	return now, err
}

// targetsOf returns the rows to which a URL with this state passes rank on (semantics.md
// section 6), ascending.
func targetsOf(ctx context.Context, tx *txn.Txn, row string, stateData []byte) ([]string, error) {
	if stateData == nil {
		return nil, nil
	}
	state, err := schema.DecodeURLState(stateData)
	if err != nil {
		return nil, err
	}
	switch {
	case state.Outcome == page.Redirect && state.Target != "":
		return []string{schema.URLRow(state.Target)}, nil
	case state.Outcome != page.Page:
		return nil, nil
	}
	links, err := openLinks(ctx, tx, row, schema.Links)
	if err != nil {
		return nil, err
	}
	var rows []string
	err = links.each(ctx, func(l schema.TargetLinks) error {
		rows = append(rows, schema.URLRow(l.Target))
		return ctx.Err()
	})
	slices.Sort(rows)
	return slices.Compact(rows), err
}
