package sitemap

import (
	"fmt"
	"strings"
	"time"
)

// Layouts of dates. The first group is the profile of ISO 8601 that sitemaps and Atom
// use (https://www.w3.org/TR/NOTE-datetime), with its common variants; the second is
// that of RSS (RFC 822, RFC 2822), without the weekday. A fraction of a second is
// accepted wherever seconds are.
var (
	w3cLayouts = []string{
		"2006-01-02T15:04:05Z07:00",
		"2006-01-02",
		"2006-01-02T15:04Z07:00",
		"2006-01-02T15:04:05Z0700",
		"2006-01-02T15:04Z0700",
		"2006-01-02T15:04:05",
		"2006-01-02T15:04",
		"2006-01",
		"2006",
		"20060102",
		"20060102T150405Z0700",
		"20060102T150405",
	}
	rssLayouts = []string{
		"2 Jan 2006 15:04:05 -0700",
		"2 Jan 2006 15:04 -0700",
		"2 Jan 06 15:04:05 -0700",
		"2 Jan 06 15:04 -0700",
		"2 Jan 2006 15:04:05",
		"2 Jan 2006 15:04",
		"2 Jan 06 15:04:05",
		"2 Jan 06 15:04",
		"2 Jan 2006",
		"2 Jan 06",
	}
)

// zones are the offsets that RFC 822 gives names to. Other names mean different offsets
// in different places and make a date unreadable.
var zones = map[string]string{
	"UT": "+0000", "GMT": "+0000", "UTC": "+0000", "Z": "+0000",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// maxTime is the length beyond which a text is not a date.
const maxTime = 64

// parseTime parses a date in any of the forms above. A date without a zone is in UTC,
// one without a day means the first of the month.
func parseTime(s string) (time.Time, error) {
	if len(s) <= maxTime {
		w3c, rss := w3cText(s), rssText(s)
		for _, layout := range w3cLayouts {
			if t, err := time.Parse(layout, w3c); err == nil && t.Year() > 0 {
				return t.UTC(), nil
			}
		}
		for _, layout := range rssLayouts {
			if t, err := time.Parse(layout, rss); err == nil {
				return t.UTC(), nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date; it is ignored", abbreviate(s))
}

// w3cText writes "2024-03-01 08:30 +01:00" as 2024-03-01T08:30+01:00.
func w3cText(s string) string {
	words := strings.Fields(strings.ToUpper(s))
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return words[0] + "T" + strings.Join(words[1:], "")
}

// rssText removes the weekday and replaces a zone by its offset.
func rssText(s string) string {
	if _, rest, found := strings.Cut(s, ","); found {
		s = rest
	}
	words := strings.Fields(s)
	if last := len(words) - 1; last > 0 {
		if offset, ok := zones[strings.ToUpper(words[last])]; ok {
			words[last] = offset
		}
	}
	return strings.Join(words, " ")
}
