package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/repository/snapshot"
)

const momentHelp = `

--at TIME shows the state at an earlier time that is still kept; the setting history
says how long that is. TIME is one of

  2026-03-01T12:00:00Z   an RFC 3339 time, or a date alone for its start in UTC
  2h, -2h, "2h ago"      a time before now, in d, h, m, s and fractions of a second
  1234                   a commit timestamp, as shown in JSON and by other commands

A time is matched to within 1/4096 of the history, or a second if that is longer: the
state may be slightly later than the time, never earlier. A timestamp is exact.`

func momentFlag(cmd *cobra.Command, at *string) {
	cmd.Flags().StringVar(at, "at", "", "show the state at a `time`: RFC 3339, a time before now such as 2h, or a timestamp (default: now)")
}

// parseMoment parses the value of --at.
func parseMoment(s string, now time.Time) (snapshot.Moment, error) {
	s = strings.TrimSpace(s)
	if s == "" || s == "now" {
		return snapshot.Moment{}, nil
	}
	if ts, err := strconv.ParseUint(s, 10, 64); err == nil && ts > 0 {
		return snapshot.Moment{TS: ts}, nil
	}
	for _, form := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil {
			return snapshot.AtTime(t), nil
		}
	}
	if ago, ok := parseAgo(s); ok {
		return snapshot.Moment{Time: now.Add(-ago).UTC()}, nil
	}
	return snapshot.Moment{}, &usageError{reason: fmt.Sprintf("--at: %q is not a time; want one like 2026-03-01T12:00:00Z, 2h (before now) or a timestamp", s)}
}

// parseAgo parses "2h", "-2h" and "2h ago", and days, which Go durations do not have.
func parseAgo(s string) (time.Duration, bool) {
	s = strings.TrimPrefix(strings.TrimSpace(strings.TrimSuffix(s, "ago")), "-")
	s = strings.ReplaceAll(s, " ", "")
	var days time.Duration
	if n, rest, ok := strings.Cut(s, "d"); ok {
		d, err := strconv.ParseUint(n, 10, 16)
		if err != nil {
			return 0, false
		}
		days, s = time.Duration(d)*24*time.Hour, rest
		if s == "" {
			return days, true
		}
	}
	d, err := time.ParseDuration(s)
	ago := days + d                                          // negative if it overflows
	return ago, err == nil && d >= 0 && ago >= 0 && s != "0" // a bare number is a timestamp
}
