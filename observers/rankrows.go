package observers

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// rankRows are the rank rows of the table as the graph of a push run (pagerank.Reader).
type rankRows struct {
	tx    *txn.Txn
	part  schema.PartSize     // of edges
	most  int                 // cells of edges to write
	cache *GraphCache         // is notified of changed edges; nil: there is none
	cells int                 // that were written
	ahead map[string][]string // targets that were read ahead
}

// full reports that the run may write no more edges.
func (r *rankRows) full() bool { return r.cells >= r.most }

// State reads a rank state.
func (r *rankRows) State(ctx context.Context, row string) (pagerank.State, error) {
	s, err := rankStateOnce(ctx, r.tx, row)
	return pagerank.State(s), err
}

// Targets reads the rows to which a URL passes rank on.
func (r *rankRows) Targets(ctx context.Context, row string) ([]string, error) {
	if targets, ok := r.ahead[row]; ok {
		delete(r.ahead, row)
		return targets, nil
	}
	edges, _, err := r.edges(ctx, row)
	return edges.Targets, err
}

// ReadAhead reads the edges of URLs, up to a bound, and the states of their targets.
func (r *rankRows) ReadAhead(ctx context.Context, rows []string, known func(row string) bool) error {
	if err := r.tx.ReadAhead(ctx, txn.Ahead{Rows: rows, Columns: []txn.Column{schema.Edges}}); err != nil {
		return err
	}
	r.ahead = make(map[string][]string, len(rows))
	targets := 0
	for _, row := range rows {
		edges, _, err := r.edges(ctx, row)
		if err != nil {
			return fmt.Errorf("edges of %q: %w", row, err)
		}
		r.ahead[row] = edges.Targets
		if targets += len(edges.Targets); targets > mostAhead {
			break
		}
	}
	return r.statesAhead(ctx, maps.Values(r.ahead), known)
}

// statesAhead reads up to mostAhead rank states of rows in these lists, those that are not known
// yet.
func (r *rankRows) statesAhead(ctx context.Context, lists iter.Seq[[]string], known func(row string) bool) error {
	if !r.tx.Shared() {
		return nil
	}
	var rows []string
	for list := range lists {
		for _, row := range list {
			if len(rows) < mostAhead && !known(row) {
				rows = append(rows, row)
			}
		}
	}
	slices.Sort(rows)
	return r.tx.ReadAhead(ctx, txn.Ahead{Rows: slices.Compact(rows), Columns: []txn.Column{schema.RankState}})
}

const (
	// rowsAhead is how many rows are read at a time.
	rowsAhead = 64
	// mostAhead bounds the targets that are held in memory, and the states of targets that are
	// read ahead. A page may have any number of links; further states are read one by one.
	mostAhead = 1 << 14
)

// outdated is a URL whose edges may have changed.
type outdated struct {
	row        string
	correction float64 // correction that a full solve has left
	corrected  bool    // whether there is a correction
	old, now   schema.StoredEdges
	parts      int // of the old ones
}

// read reads the edges of URLs as they are stored, and as they should be according to the
// fetches: of all these rows, or only of the first ones if they have many.
func (r *rankRows) read(ctx context.Context, rows []string, known func(row string) bool) ([]outdated, error) {
	if err := r.tx.ReadAhead(ctx, txn.Ahead{Rows: rows, Columns: []txn.Column{schema.Correction, schema.Edges, schema.RankState, schema.State, schema.Links}}); err != nil {
		return nil, err
	}
	var list []outdated
	targets := 0
	for _, row := range rows {
		o, err := r.readOne(ctx, row)
		if err != nil {
			return nil, fmt.Errorf("edges of %q: %w", row, err)
		}
		list = append(list, o)
		if targets += len(o.old.Targets) + len(o.now.Targets); targets > mostAhead {
			break
		}
	}
	lists := func(yield func([]string) bool) {
		for i := range list {
			o := &list[i]
			if !slices.Equal(o.old.Targets, o.now.Targets) && !(yield(o.old.Targets) && yield(o.now.Targets)) {
				return
			}
		}
	}
	return list, r.statesAhead(ctx, lists, known)
}

func (r *rankRows) readOne(ctx context.Context, row string) (o outdated, err error) {
	o.row = row
	if err := r.tx.Prefetch(ctx, row, schema.Correction, schema.Edges, schema.RankState); err != nil {
		return o, err
	}
	if o.correction, o.corrected, err = r.correction(ctx, row); err != nil {
		return o, err
	}
	if o.old, o.parts, err = r.edges(ctx, row); err != nil {
		return o, err
	}
	o.now, err = edgesOf(ctx, r.tx, row, o.old)
	return o, err
}

// update brings the edges of a URL up to date with what was fetched, and takes away the
// correction.
func (r *rankRows) update(ctx context.Context, run *pagerank.Run, o *outdated) error {
	if o.corrected {
		r.tx.Delete(o.row, schema.Correction)
		r.cells++
	}
	changed, err := run.Update(ctx, o.row, o.correction, o.old.Targets, o.now.Targets)
	if changed {
		r.cache.note(o.row)
		r.tx.Notify(schema.AppRow, schema.Tiebreak)
		r.writeEdges(o.row, o.parts, o.now)
	}
	return err
}

// correction reads the correction at a row (repository/ranks.go).
func (r *rankRows) correction(ctx context.Context, row string) (by float64, found bool, err error) {
	v, err := r.tx.GetOnce(ctx, row, schema.Correction)
	if err != nil || !v.Exists {
		return 0, false, err
	}
	by, err = schema.DecodeCorrection(v.Data)
	return by, true, err
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

// writeEdges writes the edges of a URL, whose old list had the given number of parts.
func (r *rankRows) writeEdges(row string, had int, now schema.StoredEdges) {
	var parts [][]byte
	if len(now.Targets) > 0 {
		parts = now.EncodeParts(r.part)
	}
	for i, b := range parts {
		r.tx.Set(row, schema.Part(schema.Edges, i), b)
	}
	deleteParts(r.tx, row, schema.Edges, len(parts), had)
	r.cells += max(len(parts), had)
}

// edgesOf returns the edges that a URL has according to the fetches. These are the known
// ones if nothing that they were read from has changed since.
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
	now.Targets, err = targetsOf(ctx, tx, row, state.Data, links)
	return now, err
}

// targetsOf returns the rows to which a URL with this state and these links passes rank on
// (semantics.md section 6), ascending.
func targetsOf(ctx context.Context, tx *txn.Txn, row string, stateData []byte, stored txn.Value) ([]string, error) {
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
	links, err := linksIn(tx, row, schema.Links, stored)
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
