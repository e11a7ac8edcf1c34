package scope

import "strings"

// maxPeriod is the length of the longest block of segments that repeatedBlock finds.
const maxPeriod = 10

// repeatedBlock finds a block of segments that occurs more than limit times in a row,
// and how often it does; n is 0 if there is none. A block that is one number may occur
// one more time.
func repeatedBlock(segments []string, limit int) (block string, n int) {
	for period := 1; period <= min(maxPeriod, len(segments)/(limit+1)); period++ {
		run := 0 // of segments equal to the one a period before
		for i := period; i < len(segments); i++ {
			if segments[i] != segments[i-period] {
				run = 0
				continue
			}
			run++
			copies, allowed := run/period+1, limit
			if period == 1 && isNumber(segments[i]) {
				allowed++
			}
			if copies > allowed {
				return strings.Join(segments[i-period+1:i+1], "/"), copies
			}
		}
	}
	return "", 0
}

// tooFrequent returns the first item that occurs more than limit times, and how often
// it does; n is 0 if there is none. Empty items do not count.
func tooFrequent(items []string, limit int) (item string, n int) {
	if len(items) <= limit {
		return "", 0
	}
	counts := make(map[string]int, len(items))
	for _, s := range items {
		counts[s]++
	}
	for _, s := range items {
		if s != "" && counts[s] > limit {
			return s, counts[s]
		}
	}
	return "", 0
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
