package seeds

import (
	"fmt"
	"strings"
)

// LineError is a line that is no seed.
type LineError struct {
	File    string // "" if it comes from no file
	Line    int    // from 1
	Text    string // of the line, without a comment
	Reason  string // completes a sentence that begins with Text
	Instead string // what to write, "" if that cannot be told
}

// Error is like `seeds.txt:3: "http:/example.com" lacks a slash; write http://example.com`.
func (e *LineError) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", e.File, e.Line)
	}
	fmt.Fprintf(&b, "%q %s", abbreviate(e.Text), e.Reason)
	if e.Instead != "" {
		fmt.Fprintf(&b, "; write %s", abbreviate(e.Instead))
	}
	return b.String()
}

// abbreviate keeps long lines out of messages.
func abbreviate(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
