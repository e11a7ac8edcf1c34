package robots

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"indexer/page"
)

const (
	// MaxLifetime is how long a robots.txt may be used before it is fetched again
	// (RFC 9309 section 2.4).
	MaxLifetime = 24 * time.Hour
	// MinLifetime is how long it is used even if the server wants less: the
	// crawler would fetch little else otherwise.
	MinLifetime = time.Minute
)

// lifetime is how long an answer may be used: the max-age of its Cache-Control
// field (RFC 9111 section 5.2.2.1) less its Age, between MinLifetime and
// MaxLifetime; MaxLifetime without. Other directives are not looked at: many
// servers send "no-cache" with everything, without a thought of robots.txt.
func lifetime(h http.Header) time.Duration {
	for _, field := range h.Values("Cache-Control") {
		for directive := range strings.SplitSeq(field, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			if !strings.EqualFold(name, "max-age") {
				continue
			}
			if maxAge, ok := seconds(strings.Trim(value, `"`)); ok {
				age, _ := seconds(h.Get("Age"))
				return clamp(maxAge - age)
			}
		}
	}
	return MaxLifetime
}

// retryAfter is how long to wait after the given number of failures in a row: what
// the Retry-After field says (RFC 9110 section 10.2.3), else a minute, doubled with
// each failure; between MinLifetime and MaxLifetime.
func retryAfter(f page.Fetch, failures int) time.Duration {
	value := f.Header.Get("Retry-After")
	if d, ok := seconds(value); ok {
		return clamp(d)
	}
	if at, err := http.ParseTime(value); err == nil {
		return clamp(at.Sub(f.Time))
	}
	const doublings = 11 // beyond MaxLifetime
	return clamp(MinLifetime << min(max(failures-1, 0), doublings))
}

// seconds reads delta-seconds (RFC 9111 section 1.2.2): digits; what is too large
// to represent means very long.
func seconds(s string) (time.Duration, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n > int64(maxDelay/time.Second) {
		return maxDelay, true
	}
	return time.Duration(n) * time.Second, true
}

func clamp(d time.Duration) time.Duration {
	return min(max(d, MinLifetime), MaxLifetime)
}
