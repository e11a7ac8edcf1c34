package search

import (
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// # Pages that say little new
//
// A program that makes a reference from source code makes a page for each method of each class. Such a
// page is a signature and a list of all other methods, and a page of hits may be ten of them:
// a user who has seen one has seen nearly everything that the others say. They are not versions of each
// other, and each is what some query asks for, so they are not folded. But a hit that says little
// besides what a hit of the same host above it says, and whose names fit the query no better, moves
// below the first page, like a hit of a host that has enough hits there (diversify.go). Pages that say
// something else take its place.
//
// The whole text is compared, with its menus. Each document has a sample of its shingles (package sketch), so
// nothing else is read. A page with a long main content of its own stays where it is, however long the menus
// that it shares with others are.

const (
	// The second of two pages says little new if at least littleNew of what they say is on both. The
	// samples of pages that have four fifths in common may have a little less in common.
	littleNew = 0.75
	// The sketch of a short main content has at most shortMain bins: some 180 words.
	shortMain = 96
	// A longer main content says little new if its similarity to the one above is at least
	// mainRepeated.
	mainRepeated = 0.5
)

// saysLittleNew reports whether a candidate says little that a hit above it does not say.
func (c *candidate) saysLittleNew(above *candidate) bool {
	if c.host() != above.host() || c.named() > above.named() || c.sketch == nil || above.sketch == nil {
		return false
	}
	return sampleSimilarity(c.sample, above.sample) >= littleNew && (c.bins <= shortMain || sketch.Similar(c.sketch, above.sketch, mainRepeated))
}

// named returns how well the page's title, a heading, or anchors fit the query.
func (c *candidate) named() float64 { return max(c.titleMatch, c.anchorMatch) }

// repeated returns the first hit of these lists besides which a candidate says little new, or "" if there
// is none.
func (c *candidate) repeated(lists ...[]candidate) page.URL {
	for _, list := range lists {
		for i := range list {
			if c.saysLittleNew(&list[i]) {
				return list[i].url
			}
		}
	}
	return ""
}

// sampleSimilarity estimates the share of the shingles of two texts that both have, by their samples.
func sampleSimilarity(a, b string) float64 {
	shorter, longer := float64(min(len(a), len(b))), float64(max(len(a), len(b)))
	if shorter < littleNew*longer || shorter == 0 { // as little as that, whatever they are
		return 0
	}
	both, either := 0, (len(a)+len(b))/sketch.SlotBytes
	for len(a) >= sketch.SlotBytes && len(b) >= sketch.SlotBytes {
		x, y := uint16(a[0])|uint16(a[1])<<8, uint16(b[0])|uint16(b[1])<<8 // as PackSample writes them
		if x <= y {
			a = a[sketch.SlotBytes:]
		}
		if y <= x {
			b = b[sketch.SlotBytes:]
		}
		if x == y {
			both++
		}
	}
	return float64(both) / float64(either-both)
}
