package query

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// A date is stored as nanoseconds since 1970 in an int64, with 0 for an unknown time.
const minYear, maxYear = 1678, 2260

func validDay(t time.Time) bool { return t.IsZero() || t.Year() >= minYear && t.Year() <= maxYear }

// parseDay reads the value of after: or before:, a day, month or year, and returns its
// first day in the form 2006-01-02.
func parseDay(operator, value string) (string, error) {
	name := strings.ToLower(operator)
	for _, layout := range []string{time.DateOnly, "2006-01", "2006"} {
		t, err := time.Parse(layout, value)
		switch {
		case err != nil:
		case validDay(t):
			return t.Format(time.DateOnly), nil
		default:
			return "", &UsageError{fmt.Sprintf("%s:%s is out of range: want a year from %d to %d", name, value, minYear, maxYear)}
		}
	}
	return "", &UsageError{fmt.Sprintf("%s:%s is not a date such as %s:2024-05-31, %s:2024-05 or %s:2024", name, value, name, name, name)}
}

// Period is a range of fetch times; 0 means no bound.
type Period struct{ From, Until int64 } // ns since 1970; Until is exclusive

// narrow adds a bound. Of several bounds, the narrowest holds.
func (p *Period) narrow(kind clauseKind, day string) {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return // parseDay made the day
	}
	ns := int64(1) // 0 means no bound
	if !t.IsZero() {
		ns = cmp.Or(t.UnixNano(), ns)
	}
	switch {
	case kind == clauseAfter && (p.From == 0 || ns > p.From):
		p.From = ns
	case kind == clauseBefore && (p.Until == 0 || ns < p.Until):
		p.Until = ns
	}
}

// Bounded reports whether the period has a bound.
func (p Period) Bounded() bool { return p != Period{} }
