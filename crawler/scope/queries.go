package scope

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/page"
)

// queryCounts counts the different queries at each path of one site, in a fixed number
// of cells (a count-min sketch of distinct counts). Each path has one cell in every
// row, and the lowest count of its cells is never below the true one.
type queryCounts [rows][cells]*distinct

const (
	rows  = 2
	cells = 128
)

// combination is the least number of parameters that make a query a combination.
const combination = 3

// queryKey says what is counted together: the queries at one path, with combinations
// counted separately.
type queryKey struct {
	cell        [rows]int
	query       uint64
	combination bool
}

func keyOf(path, query string) queryKey {
	n := 0
	for parameter := range strings.SplitSeq(query, "&") {
		if parameter != "" {
			n++
		}
	}
	k := queryKey{query: xxhash.Sum64String(query), combination: n >= combination}
	hash := xxhash.Sum64String(path)
	if k.combination {
		hash = xxhash.Sum64String("combinations of " + path)
	}
	for row := range k.cell {
		k.cell[row] = int(hash >> (32 * row) % cells)
	}
	// The items include the path: paths that share a cell add up in it.
	k.query ^= hash
	return k
}

// full reports whether limit is reached for queries counted with k, and how many there
// are. It is not reached for a query that is known to be among them.
func (q *queryCounts) full(k queryKey, limit int) (n int, full bool) {
	n, known := math.MaxInt, true
	for row := range q {
		cell := q.at(row, k)
		n = min(n, cell.count())
		known = known && cell.knows(k.query)
	}
	return n, n >= limit && !known
}

func (q *queryCounts) add(k queryKey) {
	for row := range q {
		q.at(row, k).add(k.query)
	}
}

func (q *queryCounts) at(row int, k queryKey) *distinct {
	cell := &q[row][k.cell[row]]
	if *cell == nil {
		*cell = new(distinct)
	}
	return *cell
}

// queries decides about a URL with a query by what was taken at its path before.
func (t *Traps) queries(ctx context.Context, u page.URL, remember bool) (Decision, error) {
	k := keyOf(u.Path(), u.Query())
	limit, kind := t.config.MaxQueries, "queries"
	if k.combination {
		limit, kind = t.config.MaxCombinations, fmt.Sprintf("queries of %d and more parameters", combination)
	}
	if limit == 0 {
		return none, nil
	}
	n, full := 0, false
	err := t.sites.with(ctx, u.Site(), func(q *queryCounts) {
		if n, full = q.full(k, limit); !full && remember {
			q.add(k)
		}
	})
	if err != nil {
		return Decision{}, fmt.Errorf("count the queries at %s: %w", u.Site(), err)
	}
	if full {
		return refuse("trap.queries", fmt.Sprintf("is not among the first %s at its path: about %d were taken, and %d are the limit", kind, n, limit)), nil
	}
	return none, nil
}
