package humanize

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                              "0 seconds",
		-time.Hour:                     "0 seconds",
		100 * time.Millisecond:         "100 milliseconds",
		time.Minute:                    "1 minute",
		90*time.Minute + 7*time.Second: "1 hour 30 minutes",
		day:                            "24 hours",
		36 * time.Hour:                 "36 hours",
		76 * time.Hour:                 "3 days 4 hours",
		365 * day:                      "365 days",
		2*day + 59*time.Minute:         "2 days",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
