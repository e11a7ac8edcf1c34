package observers

import (
	"strconv"
	"testing"
)

// TestManyFail: however many pages the browser fails at, each is given up after three attempts,
// and what is remembered of them has a bound.
func TestManyFail(t *testing.T) {
	var x renderer
	for page := range maxFailed + 10 {
		for attempt := 1; attempt <= renderAttempts; attempt++ {
			if got := x.failsAt(strconv.Itoa(page)); got != (attempt == renderAttempts) {
				t.Fatalf("page %d, attempt %d: given up: %v", page, attempt, got)
			}
		}
	}
	if len(x.failed) > maxFailed {
		t.Errorf("%d pages are remembered", len(x.failed))
	}
}
