package live

import (
	"fmt"
	"strconv"
	"time"
)

// number groups digits by thousands with narrow no-break spaces.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// plural formats a count: "1 conflict", "2 conflicts".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// span formats a duration with two or three significant digits.
func span(d time.Duration) string {
	switch {
	case d <= 0:
		return "0 ms"
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// rate formats a number per second.
func rate(f float64) string {
	switch {
	case f <= 0:
		return "0/s"
	case f < 10:
		return fmt.Sprintf("%.1f/s", f)
	}
	return number(int64(f+0.5)) + "/s"
}

// size formats a number of bytes; a negative number means unknown.
func size(n int64) string {
	switch {
	case n < 0:
		return "unknown"
	case n < 10_000:
		return number(n) + " B"
	case n < 10_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
