package web

import (
	"fmt"
	"time"
)

// freshFor is the longest delay that is shown. A longer one means that the page came from
// a recorded crawl, fetched days or years earlier, so it says nothing about how fresh
// the index is.
const freshFor = 24 * time.Hour

// delay returns the time from the fetch of a page until it was searchable, and false if
// that is unknown or irrelevant. It is negative, and so irrelevant, for a page that was
// fetched again and had not changed.
func delay(fetched, found time.Time) (time.Duration, bool) {
	if fetched.IsZero() || found.IsZero() {
		return 0, false
	}
	d := found.Sub(fetched)
	return d, d >= 0 && d < freshFor
}

// delayText formats a duration for people.
func delayText(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(d.Milliseconds(), 1))
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	minutes := int(d.Round(time.Minute) / time.Minute)
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
}

// Delay is the time from the fetch of a result until it was searchable, in words; ""
// if that is unknown. The index files store it, so any process can show it.
func (h hitView) Delay() string {
	if d, ok := delay(h.Hit.FetchedAt, h.Hit.IndexedAt); ok {
		return delayText(d)
	}
	return ""
}

// Since is when a result became searchable, if it was fetched again on a later day and
// had not changed; otherwise zero.
func (h hitView) Since() time.Time {
	found, fetched := h.Hit.IndexedAt, h.Hit.FetchedAt
	if found.IsZero() || !found.Before(fetched) || found.Format(time.DateOnly) == fetched.Format(time.DateOnly) {
		return time.Time{}
	}
	return found
}

// Delay is the time from the fetch of the page until it was searchable, in words; "" if
// that is unknown.
func (p *documentPage) Delay() string {
	if p.FetchedAt == nil || p.SearchableAt == nil || p.AtLatest {
		return ""
	}
	if d, ok := delay(*p.FetchedAt, *p.SearchableAt); ok {
		return delayText(d)
	}
	return ""
}
