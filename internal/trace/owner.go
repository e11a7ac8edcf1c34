package trace

import (
	"strings"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// owners identifies the observer of a transaction without an acknowledgement by the columns
// that it wrote. Weak observers never leave one, and of a strong observer only the newest
// is kept. The first entry whose column was written decides; docs/tables.md lists who
// writes which column.
var owners = []struct {
	column   txn.Column
	observer string
}{
	{schema.State, "document"},
	{schema.Text, "document"},
	{schema.Links, "document"},
	{schema.Pointer, "document"},
	{schema.Chain, "cluster"},
	{schema.Member, "cluster"},
	{schema.Propagated, "spread"},
	{schema.Inverted, "links"},
	{schema.Anchors, "links"},
	{schema.Pending, "forward"},
	{schema.Indexed, "index"},
	{schema.Choice, "settle"},
	{schema.RankPart, "rank"}, // post as well, which brings to the rows what rank has found
	{schema.RankState, "rank"},
	{schema.Edges, "rank"},
	{schema.Correction, "rank"},
}

// name returns the observer of a transaction; "" for the loader or if unknown.
func (t *transaction) name() string {
	if t.observer != "" || t.fetched {
		return t.observer
	}
	for _, o := range owners {
		for _, w := range t.wrote {
			if w.Column == o.column.Group+":"+o.column.Name {
				return o.observer
			}
		}
	}
	if len(t.wrote) > 0 && strings.HasPrefix(t.wrote[0].Column, schema.GroupFrontier+":") {
		return "crawl"
	}
	return ""
}
