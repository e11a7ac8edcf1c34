package page

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest wait that RetryAfter returns; it caps longer ones.
const MaxRetryAfter = 30 * 24 * time.Hour

// RetryAfter returns how long a response asks to wait (RFC 9110 section 10.2.3). Its Retry-After
// field holds seconds or a date. A date is relative to the response's own Date, so that a server's
// wrong clock does not change the wait, or to received if there is none. A date in the past means
// no wait. ok is false for a field that is missing or says neither.
func RetryAfter(h http.Header, received time.Time) (wait time.Duration, ok bool) {
	value := strings.Trim(h.Get("Retry-After"), " \t")
	if value != "" && strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(MaxRetryAfter/time.Second) {
			return MaxRetryAfter, true // err: more digits than an int64 holds
		}
		return time.Duration(seconds) * time.Second, true
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		received = date
	}
	return min(max(until.Sub(received), 0), MaxRetryAfter), true
}
