package live

import (
	"fmt"
	"time"

	"github.com/webindexer/indexer/web/assets"
)

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
	return assets.Number(int64(f+0.5)) + "/s"
}

// size formats a number of bytes; a negative number means unknown.
func size(n int64) string {
	switch {
	case n < 0:
		return "unknown"
	case n < 10_000:
		return assets.Number(n) + " B"
	case n < 10_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
