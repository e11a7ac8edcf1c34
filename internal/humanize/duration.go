// Package humanize writes durations and numbers of things as people do.
package humanize

import (
	"fmt"
	"time"
)

const day = 24 * time.Hour

// units are in order from long to short. Each is used for durations of at least from.
var units = []struct {
	name         string
	length, from time.Duration
}{
	{"day", day, 2 * day},
	{"hour", time.Hour, time.Hour},
	{"minute", time.Minute, time.Minute},
	{"second", time.Second, time.Second},
	{"millisecond", time.Millisecond, time.Millisecond},
}

// Duration writes a duration in its two largest units, and leaves out the rest: "24 hours",
// "3 days 4 hours".
func Duration(d time.Duration) string {
	for i, u := range units {
		if d < u.from {
			continue
		}
		text := Count(d/u.length, u.name)
		if i+1 < len(units) {
			if n := d % u.length / units[i+1].length; n > 0 {
				text += " " + Count(n, units[i+1].name)
			}
		}
		return text
	}
	return "0 seconds"
}

// Count writes a number of things: "1 page", "2 pages".
func Count[N ~int | ~int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", int64(n), thing)
}
