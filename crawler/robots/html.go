package robots

import "strings"

// looksLikeHTML tells a file that was saved as a web page.
func looksLikeHTML(text string) bool {
	head := strings.ToLower(text[:min(len(text), 1024)])
	return strings.Contains(head, "<html") || strings.Contains(head, "<body") || strings.Contains(head, "<!doctype html")
}

// withoutTags drops everything from "<" to the next ">" of a line.
func withoutTags(line string) string {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(line, "<")
		_, after, closed := strings.Cut(rest, ">")
		b.WriteString(before)
		if !open {
			return b.String()
		}
		if !closed {
			b.WriteByte('<')
			b.WriteString(rest)
			return b.String()
		}
		line = after
	}
}
