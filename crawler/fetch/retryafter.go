package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest wait that ParseRetryAfter returns; it caps longer ones.
const MaxRetryAfter = 30 * 24 * time.Hour

// ParseRetryAfter reads a Retry-After field (RFC 9110 section 10.2.3): seconds, or a
// date, from which it subtracts now. A date in the past means no wait. ok is false for
// anything else.
func ParseRetryAfter(value string, now time.Time) (wait time.Duration, ok bool) {
	value = strings.Trim(value, " \t")
	if isDigits(value) {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(MaxRetryAfter/time.Second) {
			return MaxRetryAfter, true // err: more digits than an int64 holds
		}
		return time.Duration(seconds) * time.Second, true
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(max(date.Sub(now), 0), MaxRetryAfter), true
}

// retryAfter interprets a date relative to the response's own Date, so that a server's
// wrong clock does not change the wait.
func retryAfter(h http.Header, received time.Time) time.Duration {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		received = date
	}
	wait, _ := ParseRetryAfter(h.Get("Retry-After"), received)
	return wait
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
