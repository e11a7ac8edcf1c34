package index

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// parseDay reads the value of after: or before:, a day, month or year, and gives its
// first day as 2006-01-02.
func parseDay(operator, value string) (string, error) {
	for _, layout := range []string{time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(layout, value); err == nil && validTime(t) && t.Year() < 2261 {
			return t.Format(time.DateOnly), nil
		}
	}
	name := strings.ToLower(operator)
	return "", &UsageError{fmt.Sprintf("%s:%s is not a date such as %s:2024-05-31, %s:2024-05 or %s:2024", name, value, name, name, name)}
}

// period is a range of fetch times; 0 stands for no bound.
type period struct{ from, until int64 } // ns since 1970; until is the first that is not in it

// narrow adds a bound. Of several the narrowest holds.
func (p *period) narrow(kind clauseKind, day string) {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return // parseDay has seen to it
	}
	ns := cmp.Or(packTime(t), 1)
	switch {
	case kind == clauseAfter && (p.from == 0 || ns > p.from):
		p.from = ns
	case kind == clauseBefore && (p.until == 0 || ns < p.until):
		p.until = ns
	}
}

func (p period) bounded() bool { return p != period{} }

// condition is the SQL for documents with this row id in the period, with a space before
// it; "" for all. A document of unknown time is in no bounded period. The time is looked
// up for each match: matches are fewer than documents.
func (p period) condition(rowid string) string {
	if !p.bounded() {
		return ""
	}
	c := " AND (SELECT fetched<>0"
	if p.from != 0 {
		c += fmt.Sprintf(" AND fetched>=%d", p.from)
	}
	if p.until != 0 {
		c += fmt.Sprintf(" AND fetched<%d", p.until)
	}
	return c + " FROM times WHERE id=" + rowid + ")"
}
