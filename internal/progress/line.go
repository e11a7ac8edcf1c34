package progress

import (
	"fmt"
	"strings"
	"time"
)

// line formats the state on one line, with the most important parts first, because a narrow
// terminal cuts the end.
func (s State) line(elapsed time.Duration) string {
	parts := []string{s.Phase}
	if s.Phase == "" {
		parts = []string{s.reading()}
	}
	latency := s.Latency
	if left, ok := s.remaining(elapsed); ok {
		parts = append(parts, Duration(left)+" left")
		latency = min(latency, elapsed+left) // both are estimates, and no page waits longer than all the work takes
	}
	if s.Phase == "" && s.Of > 1 {
		parts = append(parts, fmt.Sprintf("file %d/%d", min(s.FilesDone+1, s.Of), s.Of))
	}
	parts = append(parts, fmt.Sprintf("%d records", s.Records), fmt.Sprintf("%d loaded", s.Pages),
		fmt.Sprintf("%.0f/s", rate(s.Pages, elapsed)))
	if !s.Elsewhere {
		parts = append(parts, fmt.Sprintf("backlog %d", s.Backlog))
	}
	if latency > 0 {
		parts = append(parts, "searchable in "+Duration(latency))
	}
	return strings.Join(parts, "  ")
}

// reading is a bar if the size is known, and otherwise the number of bytes.
func (s State) reading() string {
	if s.Size <= 0 {
		return Bytes(s.Bytes)
	}
	const cells = 10
	share := min(1, float64(s.Bytes)/float64(s.Size))
	full := int(share * cells)
	return fmt.Sprintf("[%s%s] %3.0f%%", strings.Repeat("#", full), strings.Repeat(".", cells-full), share*100)
}

// remaining estimates the time until everything is read and no row waits for observers.
// Reading and observers work at the same time, so the longer of the two counts. It expects
// unread data to wake as many rows as the data read so far, and needs some progress first.
func (s State) remaining(elapsed time.Duration) (time.Duration, bool) {
	reads := s.Phase == ""
	if elapsed < time.Second || reads && (s.Size <= 0 || s.Bytes <= 0 || s.Bytes > s.Size) {
		return 0, false
	}
	unread, rows := 0.0, float64(s.Backlog)
	if reads {
		unread = float64(s.Size-s.Bytes) / float64(s.Bytes)
		rows += float64(s.Done+int64(s.Backlog)) * unread
	}
	share := unread // relative to what has been done so far
	if s.Done > 0 {
		share = max(share, rows/float64(s.Done))
	}
	left := float64(elapsed) * share
	return time.Duration(min(left, float64(longest))), 0 < left && left <= float64(longest)
}

// longest is the longest time that an estimate of progress is good for. At the beginning of large work, estimates
// can exceed any Duration.
const longest = 365 * 24 * time.Hour

func rate(n int64, elapsed time.Duration) float64 {
	if elapsed <= 0 {
		return 0
	}
	return float64(n) / elapsed.Seconds()
}

// Duration formats a duration for people: 85ms, 1.2s, 4m10s, 2h5m.
func Duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// Bytes formats a number of bytes for people, in powers of 1024.
func Bytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n)/1024, 0
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", value, units[unit])
}
