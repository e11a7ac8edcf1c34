package analysis

import (
	"strings"

	"github.com/webindexer/indexer/page"
)

// NormalizeRanges normalises a text and returns the ranges that its parts have in the
// normalised text. If parts is nil, all of the text is one part, as in page.Outline. Ranges
// beyond the end of the text are cut off, because the text itself may have been cut.
func NormalizeRanges(text string, parts []page.Range) (string, []page.Range) {
	if normal := Normalize(text); parts == nil {
		return normal, []page.Range{{End: len(normal)}}
	} else if normal == text {
		return text, within(parts, len(text))
	}
	var b strings.Builder
	out := make([]page.Range, 0, len(parts))
	at := 0
	for _, r := range within(parts, len(text)) {
		b.WriteString(Normalize(text[at:r.Start]))
		start := b.Len()
		b.WriteString(Normalize(text[r.Start:r.End]))
		out = append(out, page.Range{Start: start, End: b.Len()})
		at = r.End
	}
	b.WriteString(Normalize(text[at:]))
	return b.String(), out
}

// within returns what is left of the parts of a text that was cut at n.
func within(parts []page.Range, n int) []page.Range {
	for i, r := range parts {
		if r.Start >= n {
			return parts[:i]
		}
		if r.End > n {
			return append(parts[:i:i], page.Range{Start: r.Start, End: n})
		}
	}
	return parts
}

// others returns the parts of a text of n bytes that are not among these.
func others(parts []page.Range, n int) (rest []page.Range) {
	at := 0
	for _, r := range parts {
		if at < r.Start {
			rest = append(rest, page.Range{Start: at, End: r.Start})
		}
		at = r.End
	}
	if at < n {
		rest = append(rest, page.Range{Start: at, End: n})
	}
	return rest
}
