package verify

import (
	"fmt"
	"strings"
)

// Report says what was compared and what was found to differ.
type Report struct {
	SnapshotTS uint64 `json:"snapshot_ts"`
	// Checked counts what was compared, by kind.
	Checked map[string]int `json:"checked"`
	// ResidualSum is how much rank all URLs together have not passed on, and
	// ResidualBound how much they may.
	ResidualSum   float64 `json:"residual_sum"`
	ResidualBound float64 `json:"residual_bound"`
	// Differences lists at most maxListed; Total is how many there are.
	Differences []Difference `json:"differences"`
	Total       int          `json:"differences_total"`
}

// Difference is one cell, or one field of an index document, that is not what
// the stored fetches mean.
type Difference struct {
	// Table is a locality group of the repository, or "index files".
	Table  string `json:"table"`
	Row    string `json:"row"`
	Column string `json:"column"`
	// Stored is what the observers left, Computed what the batch says; "" stands
	// for nothing.
	Stored   string `json:"stored"`
	Computed string `json:"computed"`
}

// String is one line for people.
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

// same notes a difference, if there is one.
func (r *Report) same(table, row, column, stored, computed string) {
	if stored != computed {
		r.add(table, row, column, stored, computed)
	}
}
