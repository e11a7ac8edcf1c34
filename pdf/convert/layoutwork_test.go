package convert

import (
	"runtime"
	"testing"
)

// A hostile page is one paragraph of as many short lines as a page can have, and the next
// page goes on with it. Twice the lines take about twice the memory, not four times as much.
func TestLongParagraphTakesLinearWork(t *testing.T) {
	const lines = 10_000
	for name, pages := range map[string][2]int{"in a page": {1, 1}, "across pages": {1000, 2000}} {
		t.Run(name, func(t *testing.T) {
			once, twice := allocated(longParagraph(pages[0], lines)), allocated(longParagraph(pages[1], 2*lines))
			if twice > 3*once {
				t.Errorf("%d lines allocate %d bytes, %d lines %d", lines, once, 2*lines, twice)
			}
		})
	}
}

// longParagraph divides the lines of one paragraph among pages.
func longParagraph(pages, lines int) *document {
	d := &document{pages: make([][]line, pages)}
	for i := range lines {
		p := i * pages / lines
		bottom := float64(-12 * i)
		d.pages[p] = append(d.pages[p], line{box: box{0, bottom, 100, bottom + 10}, text: string(rune('a' + i%26)), height: 10})
	}
	return d
}

// allocated returns the bytes that laying out a document allocates, whether or not they are
// freed meanwhile.
func allocated(d *document) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d.blocks()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
