package scope

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/page"
)

// Calendars link to the next month on every page.

// pathDate is a year and a month, optionally with a day, as segments or parts of one
// segment.
var pathDate = regexp.MustCompile(`(?:^|[/_-])(\d{4})[/_-](\d{1,2})(?:[/_-](\d{1,2}))?(?:$|[/._-])`)

// queryDate is the beginning of a value that is a date: 2031-05-06, 2031-05, 20310506,
// 203105, 2031.
var queryDate = regexp.MustCompile(`^(\d{4})(?:-?(\d{1,2})(?:-?(\d{1,2}))?)?(?:$|[^0-9])`)

// calendarWords are words in the paths of calendars.
var calendarWords = map[string]bool{
	"calendar": true, "calendars": true, "cal": true, "kalender": true, "calendario": true, "calendrier": true,
	"agenda": true, "event": true, "events": true, "termine": true, "veranstaltungen": true, "eventos": true,
	"schedule": true, "diary": true, "month": true, "week": true, "day": true, "year": true,
}

// dateWords occur in the names of parameters that hold dates, unless one of otherWords occurs
// as well, or the name is that of an id.
var (
	dateWords  = []string{"date", "day", "week", "month", "year", "calendar"}
	otherWords = []string{"update", "birth", "candidate", "mandate"}
)

func (t *Traps) calendar(_ page.URL, path, query string) (Decision, bool) {
	if year, date, ok := dateInQuery(query); ok {
		return t.farYear(year, date, true)
	}
	if year, date, full, ok := dateInPath(path); ok {
		word := hasCalendarWord(path)
		if word || full {
			return t.farYear(year, date, word)
		}
	}
	return Decision{}, false
}

// farYear refuses years too far off; past years only for certain calendars.
func (t *Traps) farYear(year int, date string, calendar bool) (Decision, bool) {
	now := t.config.Now().UTC().Year()
	if limit := t.config.FutureYears; limit > 0 && year > now+limit {
		return refuse("trap.calendar", fmt.Sprintf("is of %s, more than %d years ahead", date, limit)), true
	}
	if limit := t.config.PastYears; limit > 0 && calendar && year < now-limit {
		return refuse("trap.calendar", fmt.Sprintf("is a calendar page of %s, more than %d years ago", date, limit)), true
	}
	return Decision{}, false
}

// dateInPath returns the first date in a path. full reports that it has a day and all
// leading zeros: three numbers that are not a date rarely have those.
func dateInPath(path string) (year int, date string, full, ok bool) {
	m := pathDate.FindStringSubmatch(path)
	year, date, ok = parseDate(m)
	return year, date, ok && len(m[2]) == 2 && len(m[3]) == 2, ok
}

// dateInQuery returns the first date in a parameter with a name for dates.
func dateInQuery(query string) (year int, date string, ok bool) {
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if !namesDate(name) {
			continue
		}
		if year, date, ok := parseDate(queryDate.FindStringSubmatch(value)); ok {
			return year, date, true
		}
	}
	return 0, "", false
}

// parseDate reads a match of pathDate or queryDate: a year, perhaps a month, perhaps a day.
func parseDate(m []string) (year int, date string, ok bool) {
	if m == nil || m[2] != "" && !inRange(m[2], 12) || m[3] != "" && !inRange(m[3], 31) {
		return 0, "", false
	}
	year, err := strconv.Atoi(m[1])
	return year, strings.Trim(m[1]+"-"+m[2]+"-"+m[3], "-"), err == nil
}

func namesDate(name string) bool {
	name = strings.ToLower(name)
	in := func(word string) bool { return strings.Contains(name, word) }
	return slices.ContainsFunc(dateWords, in) && !slices.ContainsFunc(otherWords, in) && !strings.HasSuffix(name, "id")
}

// hasCalendarWord compares whole words of the path.
func hasCalendarWord(path string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(path), func(c rune) bool { return strings.ContainsRune("/-_.", c) }) {
		if calendarWords[word] {
			return true
		}
	}
	return false
}

func inRange(number string, most int) bool {
	n, err := strconv.Atoi(number)
	return err == nil && 1 <= n && n <= most
}
