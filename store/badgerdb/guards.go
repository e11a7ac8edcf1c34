package badgerdb

import (
	"bytes"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// refusal evaluates the guards of a planned request against the store as it is
// after the last group; nil means that all hold.
func (c *committer) refusal(r *request, rd *reader) (*store.Result, error) {
	for i := range r.plan.guards {
		g := &r.plan.guards[i]
		if g.require != nil {
			ok, err := c.exists(g, rd)
			if err != nil {
				return nil, err
			}
			if !ok {
				return &store.Result{Outcome: store.Refused, Row: bytes.Clone(g.row)}, nil
			}
			continue
		}
		found, err := c.meets(g, rd)
		if err != nil {
			return nil, err
		}
		if found != nil {
			return &store.Result{Outcome: store.Refused, Row: bytes.Clone(g.row), Found: found}, nil
		}
	}
	return nil, nil
}

// meets returns a cell that an Absent guard names, or nil.
func (c *committer) meets(g *guard, rd *reader) (*store.Cell, error) {
	lo, hi := engine.TSRange(g.sel.MinTS, g.sel.MaxTS)
	if lo > hi || c.knownAbsent(g, lo) {
		c.stats.guardsFast.Add(1)
		return nil, nil
	}
	if ts, found, known := c.residentCell(g); known {
		c.stats.guardsFast.Add(1)
		if !found || ts < lo || ts > hi {
			return nil, nil
		}
		return &store.Cell{Group: g.group.Name, Row: bytes.Clone(g.row), Column: bytes.Clone(g.sel.Column), TS: ts}, nil
	}
	c.stats.guardsSlow.Add(1)
	return rd.first(g.row, *g.sel)
}

// knownAbsent reports whether memory alone shows that no cell at lo or above matches a
// guard.
func (c *committer) knownAbsent(g *guard, lo uint64) bool {
	if set := c.residents[g.group.number]; set != nil && set.empty() {
		return true
	}
	return !g.sel.Prefix && c.db.newest.None(g.group.number, g.hash, lo)
}

// residentCell looks up the one cell of a column of a resident Latest group.
func (c *committer) residentCell(g *guard) (ts uint64, found, known bool) {
	set := c.residents[g.group.number]
	if set == nil || set.lost || !g.group.Latest || (g.sel != nil && g.sel.Prefix) {
		return 0, false, false
	}
	ts, found = set.cells[string(g.head)]
	return ts, found, true
}

// exists evaluates a Require.
func (c *committer) exists(g *guard, rd *reader) (bool, error) {
	if ts, found, known := c.residentCell(g); known {
		c.stats.guardsFast.Add(1)
		return found && ts == g.require.TS, nil
	}
	if c.db.newest.None(g.group.number, g.hash, g.require.TS) {
		c.stats.guardsFast.Add(1)
		return false, nil
	}
	c.stats.guardsSlow.Add(1)
	return rd.has(g.group, g.head, g.require.TS)
}
