package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// Report is the result of a comparison.
type Report struct {
	SnapshotTS uint64 `json:"snapshot_ts"`
	// Repaired says what was wrong with the index files when they were opened. They were repaired
	// before the comparison, which therefore does not show it. "": nothing.
	Repaired string `json:"repaired,omitempty"`
	// Checked counts the compared items, by kind.
	Checked map[string]int `json:"checked"`
	// ResidualSum is the sum of the residuals of all URLs, and ResidualBound its
	// bound.
	ResidualSum   float64 `json:"residual_sum"`
	ResidualBound float64 `json:"residual_bound"`
	// Differences lists at most maxListed differences; Total is their number.
	Differences []Difference `json:"differences"`
	Total       int          `json:"differences_total"`
}

// Difference is one cell, or one field of an index document, that differs from
// the meaning of the stored fetches.
type Difference struct {
	// Table is a locality group of the repository, or "index files".
	Table  string `json:"table"`
	Row    string `json:"row"`
	Column string `json:"column"`
	// Stored is the value that the observers wrote, Computed the value of the batch; "" means
	// none.
	Stored   string `json:"stored"`
	Computed string `json:"computed"`
}

// String formats the difference as one line for people.
func (d Difference) String() string {
	return fmt.Sprintf("%s %s %s: stored %s, computed %s", d.Table, d.Row, d.Column, orNothing(d.Stored), orNothing(d.Computed))
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// maxListed bounds the differences that are listed.
const maxListed = 1000

// maxShown bounds how much of a value a difference shows, in bytes.
const maxShown = 200

func newReport() *Report {
	return &Report{Checked: make(map[string]int), Differences: []Difference{}}
}

// join adds another part of the comparison.
func (r *Report) join(part *Report) {
	for kind, n := range part.Checked {
		r.Checked[kind] += n
	}
	r.ResidualSum += part.ResidualSum
	r.ResidualBound += part.ResidualBound
	r.Total += part.Total
	r.Differences = append(r.Differences, part.Differences[:min(len(part.Differences), maxListed-len(r.Differences))]...)
}

// joinByRow adds parts that have compared rows of URLs, each in the order of a scan. It lists the
// differences in that order, whichever part has found them.
func (r *Report) joinByRow(parts []*Report) {
	var list []Difference
	for _, p := range parts {
		list = append(list, p.Differences...)
		p.Differences = nil
		r.join(p)
	}
	slices.SortStableFunc(list, func(a, b Difference) int {
		return cmp.Compare(schema.URLRow(page.URL(a.Row)), schema.URLRow(page.URL(b.Row)))
	})
	r.Differences = append(r.Differences, list[:min(len(list), maxListed-len(r.Differences))]...)
}

func (r *Report) add(table, row, column, stored, computed string) {
	r.Total++
	if len(r.Differences) < maxListed {
		r.Differences = append(r.Differences, Difference{table, row, column, cut(stored), cut(computed)})
	}
}

func cut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}

// same adds a difference to the report, unless the values are the same.
func (r *Report) same(table, row, column, stored, computed string) {
	if stored != computed {
		r.add(table, row, column, stored, computed)
	}
}
