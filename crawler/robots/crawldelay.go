package robots

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// maxDelay is what longer delays count as. It is far beyond any cap a crawler
// sets, and keeps sums of a time and a delay from overflowing.
const maxDelay = 100 * 365 * 24 * time.Hour

// parseDelay reads the value of a crawl-delay line: seconds as a decimal number.
// What is not one, negative numbers among it, is void.
func parseDelay(value string) (time.Duration, bool) {
	if value == "" || strings.Trim(value, "0123456789.") != "" {
		return 0, false
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil && !math.IsInf(seconds, 1) {
		return 0, false
	}
	if seconds >= maxDelay.Seconds() {
		return maxDelay, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}
