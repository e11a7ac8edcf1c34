package convert

import "strings"

// takeFurniture removes running heads, running feet and page numbers from the pages: they would
// appear in the middle of sentences. It returns each of the heads and feet once.
func (d *document) takeFurniture() []string {
	const least = 3 // pages
	count := make(map[string]int)
	for _, lines := range d.pages {
		for _, l := range edges(lines) {
			count[withoutDigits(l.text)]++
		}
	}
	needed := max(least, len(d.pages)*3/10)
	var taken []string
	known := make(map[string]bool)
	take := func(l line) bool {
		key := withoutDigits(l.text)
		if key != "" && count[key] < needed {
			return false
		}
		if key == "" && len(d.pages) < least {
			return false // a number may be all that the page has
		}
		if key != "" && !known[key] {
			known[key] = true
			taken = append(taken, l.text)
		}
		return true
	}
	for i, lines := range d.pages {
		if n := len(lines); n > 0 && take(lines[n-1]) {
			lines = lines[:n-1]
		}
		if len(lines) > 0 && take(lines[0]) {
			lines = lines[1:]
		}
		d.pages[i] = lines
	}
	return taken
}

// edges returns the first and the last line.
func edges(lines []line) []line {
	switch n := len(lines); n {
	case 0, 1:
		return lines
	default:
		return []line{lines[0], lines[n-1]}
	}
}

// withoutDigits returns a line without the number of its page.
func withoutDigits(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s))
}
